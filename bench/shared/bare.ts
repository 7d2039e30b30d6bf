/** Puts statements to the engine of the service, with the bare client and the settings of the service. */
import { createClient, type ResponseJSON } from '@clickhouse/client'
import { resolvePeriod } from '../../src/analytics/request/period.js'
import { planQuery } from '../../src/analytics/plan/planner.js'
import { resolveQuery } from '../../src/analytics/request/query.js'
import { buildStatement } from '../../src/analytics/sql/build-statement.js'
import type { AnalyticsQueryRequest } from '../../src/contract/api.js'
import { findEngine } from '../../src/clickhouse/embedded/find-engine.js'
import type { Account, Endpoint } from '../../src/clickhouse/endpoint.js'
import type { Statement } from '../../src/clickhouse/sql.js'

/** The statement that the service makes of a request. */
export function statementOf(
  request: AnalyticsQueryRequest,
  projectId: string,
  now: Date,
): Statement {
  const period = resolvePeriod(request.date_range, now, now)
  return buildStatement(planQuery(resolveQuery(request, projectId, period)))
}

/** Where the engine of the service answers that runs on the folder. */
export async function endpointOf(dataDir: string): Promise<Endpoint> {
  const endpoint = await findEngine(dataDir)
  if (endpoint === undefined) throw new Error('there is no engine')
  return endpoint
}

export interface BareClient {
  readonly run: <Row>(statement: Statement) => Promise<ResponseJSON<Row>>
  readonly close: () => Promise<void>
}

/** A client with the service's own settings: they tell the engine what to do. */
export function bareClient(
  { url, database, accounts }: Endpoint,
  account: Account,
  seconds: number,
): BareClient {
  const client = createClient({
    url,
    database,
    ...accounts[account],
    request_timeout: 600_000,
    log: { level: 127 },
  })
  return {
    run: async <Row>({ query, query_params }: Statement) => {
      const answer = await client.query({
        query,
        query_params,
        format: 'JSON',
        clickhouse_settings: {
          wait_end_of_query: 1,
          http_write_exception_in_output_format: 0,
          max_execution_time: seconds,
          exact_rows_before_limit: 1,
          output_format_json_quote_64bit_integers: 0,
        },
      })
      return answer.json<Row>()
    },
    close: () => client.close(),
  }
}
