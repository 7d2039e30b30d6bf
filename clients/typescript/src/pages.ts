/** Reads all pages of a query. */
import type { Result } from './result.js'
import type { QueryRequest, QueryResponse, Row } from './rows.js'

type Query = (body: QueryRequest) => Promise<Result<QueryResponse>>

/** The largest page. */
const MAX_LIMIT = 1_000

/**
 * Yields the pages of a query, from its `offset` on. The period of the first page is that of all others: rows of a period that
 * ends now would move from one page to the next meanwhile. An error is the last page.
 */
export async function* readPages(
  query: Query,
  body: QueryRequest,
): AsyncGenerator<Result<QueryResponse>> {
  const { limit = MAX_LIMIT } = body
  let asked: QueryRequest = { ...body, limit: limit === 'all' ? MAX_LIMIT : limit }
  for (;;) {
    const page = await query(asked)
    yield page
    if (!page.ok) return
    const { period, pagination } = page.data
    const offset = pagination.offset + pagination.returned
    if (pagination.returned === 0 || offset >= pagination.total) return
    asked = { ...asked, date_range: [period.from, period.to], offset }
  }
}

/** Reads all rows of a query, or returns the first error. */
export async function readAllRows(
  query: Query,
  body: QueryRequest,
): Promise<Result<readonly Row[]>> {
  const rows: Row[] = []
  for await (const page of readPages(query, body)) {
    if (!page.ok) return page
    rows.push(...page.data.data)
  }
  return { ok: true, data: rows }
}
