/** Answers a query row by row: a response may have any number of rows, and only some of them are in memory. */
import type { AnalyticsQueryRequest, AnalyticsQueryResponse, Row } from '../contract/api.js'
import { ApiError } from '../contract/errors.js'
import { createNonce, requireOrigin, type MarkedRow, type Origin } from '../model/origin.js'
import type { StoredRows, StreamDependencies } from './operation.js'
import type { Plan } from './plan/plan.js'
import { checkRows, namePatterns, requireAllRows } from './check-rows.js'
import { requireOneCurrency, shapeMetadata } from './numbers.js'
import { listPatternFields } from './request/filter-limits.js'
import type { Query } from './request/query.js'
import { createShaper, shapeEcho, shapeMetrics, type StoredRow } from './response.js'
import { readTotals } from './run-plan.js'
import { buildCountingStatement } from './sql/build-statement.js'

/** The maximum number of rows of a streamed response. Accounts of the store allow no more. */
export const MAX_STREAMED_ROWS = 1_000_000

/** A response whose rows are on their way. */
export interface StreamedResponse extends Pick<
  AnalyticsQueryResponse,
  'period' | 'query' | 'comparison' | 'totals' | 'metadata'
> {
  /** The number of rows before limit and offset. */
  readonly total: number
  /** The rows. It throws an ApiError if they break off. */
  readonly batches: AsyncGenerator<readonly Row[]>
}

type CountedRow = StoredRow & MarkedRow & { readonly row_count: number }

/**
 * Runs a plan, and hands the response to `consume`. The numbers are those of one that is not streamed.
 *
 * @param plan has the limit `MAX_STREAMED_ROWS`
 * @throws ApiError as `runPlanned` does, QUERY_TOO_EXPENSIVE for too many rows, or what `consume` rejects with
 */
export async function streamPlan(
  request: AnalyticsQueryRequest,
  plan: Plan,
  dependencies: StreamDependencies,
  consume: (response: StreamedResponse) => Promise<void>,
): Promise<void> {
  const { query } = plan
  const { group, onPlan, stream } = dependencies
  onPlan?.(plan)
  const origin = { projectId: query.projectIds[0], nonce: createNonce() }
  const run = checkRows(dependencies.run, origin)
  const statement = buildCountingStatement(plan, origin.nonce, group)
  await stream<CountedRow>(statement, async (rows) => {
    const first = await rows.next()
    const [row] = first.done === true ? [] : first.value
    const total = first.done === true ? first.value : (row?.row_count ?? 0)
    const expected = Math.min(query.limit, Math.max(total - query.offset, 0))
    requireFewRows(total - query.offset)
    if (first.done !== true) requireOrigin(first.value, origin)
    const totals = await readTotals({ plan, nonce: origin.nonce, group, run }, row)
    requireOneCurrency(query, row ?? totals)
    await consume({
      ...shapeEcho(request, query),
      ...(totals === undefined ? {} : { totals: shapeMetrics(query, totals) }),
      ...shapeMetadata(query, row, total),
      total,
      batches: shapeRows(query, { first, rows, origin, expected }),
    })
  }).catch((error: unknown) => {
    throw namePatterns(error, listPatternFields(request.filters))
  })
}

function requireFewRows(rows: number): void {
  if (rows <= MAX_STREAMED_ROWS) return
  throw new ApiError(
    'QUERY_TOO_EXPENSIVE',
    `The answer has more than ${MAX_STREAMED_ROWS} rows. Narrow date_range or add filters.`,
  )
}

interface Source {
  readonly first: IteratorResult<readonly CountedRow[], number>
  readonly rows: StoredRows<CountedRow>
  readonly origin: Origin
  /** How many rows there must be. */
  readonly expected: number
}

/** Shapes rows while they arrive. @throws ApiError INTERNAL_ERROR for rows of another origin, SERVICE_UNAVAILABLE if some are missing */
async function* shapeRows(
  query: Query,
  { first, rows, origin, expected }: Source,
): AsyncGenerator<readonly Row[]> {
  const shapeRow = createShaper(query)
  let count = 0
  for (let next = first; next.done !== true; next = await rows.next()) {
    requireOrigin(next.value, origin)
    count += next.value.length
    yield next.value.map(shapeRow)
  }
  requireAllRows(count, expected)
}
