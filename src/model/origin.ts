/** Marks every row of a response with its project and request, so that no row of another one is taken for it. */
import { sql, string, type Sql } from '../clickhouse/sql.js'
import { ApiError } from '../contract/errors.js'
import { randomId } from '../lib/random-id.js'

/** The project that a statement reads, and the request that it answers. */
export interface Origin {
  readonly projectId: string
  /** Differs from request to request. */
  readonly nonce: string
}

/** The columns of `selectOrigin`. */
export interface MarkedRow {
  readonly of_project: string
  readonly of_request: string
}

export const createNonce = (): string => randomId('', 12)

/**
 * Writes the columns that mark a row.
 *
 * @param project the very fragment by which the statement selects the rows of the project; for rows of several projects, the column
 *   that they are grouped by
 */
export const selectOrigin = (project: Sql, nonce: string): Sql =>
  sql`${project} AS of_project, ${string(nonce)} AS of_request`

/**
 * Checks that all rows are of this origin. They always are, unless a bug, a connection or a proxy mixes up answers.
 *
 * @throws ApiError INTERNAL_ERROR for a row of another origin; the logged cause contains nothing of the row
 */
export function requireOrigin(rows: readonly MarkedRow[], { projectId, nonce }: Origin): void {
  requireOriginAmong(rows, new Set([projectId]), nonce)
}

/**
 * Does the same for the rows of a request about several projects.
 *
 * @throws ApiError INTERNAL_ERROR for a row of another project or request
 */
export function requireOriginAmong(
  rows: readonly MarkedRow[],
  projectIds: ReadonlySet<string>,
  nonce: string,
): void {
  if (rows.every((row) => projectIds.has(row.of_project) && row.of_request === nonce)) return
  throw new ApiError('INTERNAL_ERROR', 'Something went wrong.', {
    cause: new Error('the store returned rows of another project or request; they were discarded'),
  })
}
