/** Checks that the rows of statements are those of the request: of its project, and computed for it. */
import type { Statement } from '../clickhouse/sql.js'
import { ApiError, createValidationError } from '../contract/errors.js'
import { requireOrigin, type Origin } from '../model/origin.js'
import type { RunMarked, RunStatement } from './operation.js'

/**
 * Creates the function that runs the statements of a request, and checks that their rows are marked as those of the request.
 *
 * @param run rejects with an ApiError
 * @returns a function that rejects with ApiError INTERNAL_ERROR for rows of another project or request, or as `run` does
 */
export const checkRows =
  (run: RunMarked, origin: Origin): RunStatement =>
  async <Row extends object>(statement: Statement) => {
    const result = await run<Row>(statement)
    requireOrigin(result.rows, origin)
    return result
  }

/** Names the patterns of a request if the store refused one of them. It does not say which. */
export function namePatterns(error: unknown, fields: readonly string[]): unknown {
  if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') return error
  // Other errors name their fields.
  if (error.details !== undefined && error.details.length > 0) return error
  const message = 'must be a pattern of RE2: it is too large, or names an unknown class'
  return createValidationError(
    fields.map((field) => ({ field, message })),
    error.cause,
  )
}

/** @throws ApiError SERVICE_UNAVAILABLE if the store sent another number of rows than there are */
export function requireAllRows(read: number, expected: number): void {
  if (read === expected) return
  throw new ApiError('SERVICE_UNAVAILABLE', 'The answer of the store is incomplete.', {
    cause: new Error(`the store sent ${read} rows of ${expected}`),
  })
}
