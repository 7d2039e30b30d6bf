/** Runs statements, and checks whose rows they returned. */
import type { Statement } from '../clickhouse/sql.js'
import { ApiError, createValidationError } from '../contract/errors.js'
import { createNonce, requireOrigin, type MarkedRow, type Origin } from '../model/origin.js'

/** Runs a statement; rejects with an ApiError. */
export type RunRows<Row> = (
  statement: Statement,
) => Promise<{ readonly rows: readonly (Row & MarkedRow)[] }>

/** What a statement is about. */
export interface Asked {
  readonly projectId: string
  /** The fields of the request that hold patterns. */
  readonly patternFields: readonly string[]
}

/**
 * Runs a statement, and checks that its rows are of an origin.
 *
 * @throws ApiError INTERNAL_ERROR for rows of another project or request, or the error that `run` rejects with
 */
export async function runMarked<Result extends { readonly rows: readonly MarkedRow[] }>(
  run: (statement: Statement) => Promise<Result>,
  statement: Statement,
  origin: Origin,
): Promise<Result> {
  const result = await run(statement)
  requireOrigin(result.rows, origin)
  return result
}

/**
 * Runs the one statement of an operation, which marks its rows.
 *
 * @param build writes the statement; its nonce marks the rows as those of this request
 * @throws ApiError INTERNAL_ERROR for rows of another project or request, VALIDATION_ERROR for a pattern that only the store
 *   refuses, or the error that `run` rejects with
 */
export async function readRows<Row>(
  { projectId, patternFields }: Asked,
  run: RunRows<Row>,
  build: (nonce: string) => Statement,
): Promise<readonly Row[]> {
  const origin = { projectId, nonce: createNonce() }
  const { rows } = await runMarked(run, build(origin.nonce), origin).catch((error: unknown) => {
    throw namePatterns(error, patternFields)
  })
  return rows
}

/** Names the patterns of a request if the store refused one of them. It does not say which. */
export function namePatterns(error: unknown, fields: readonly string[]): unknown {
  if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') return error
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
