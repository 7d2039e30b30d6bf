/** Runs statements on the service's engine with the bare ClickHouse client and the service's settings. */
import { createClient, type ResponseJSON } from '@clickhouse/client'
import { resolvePeriod } from '../../src/analytics/request/period.js'
import { planQuery } from '../../src/analytics/plan/planner.js'
import { resolveQuery } from '../../src/analytics/request/query.js'
import { buildStatement } from '../../src/analytics/sql/build-statement.js'
import type { AnalyticsQueryRequest } from '../../src/contract/api.js'
import { findEngine } from '../../src/clickhouse/embedded/find-engine.js'
import type { Account, Endpoint } from '../../src/clickhouse/endpoint.js'
import type { ProjectSizes } from '../../src/model/project-sizes.js'
import { WITHOUT_PAIRS } from '../../src/model/relations.js'
import type { Statement } from '../../src/clickhouse/sql.js'
import { createQueryId } from '../../src/clickhouse/statements.js'

/** Builds the statement that the service runs for a request. @param relations those that may be read of the project */
export function buildQueryStatement(
  request: AnalyticsQueryRequest,
  projectId: string,
  now: Date,
  sizes?: ProjectSizes,
  relations = WITHOUT_PAIRS,
): Statement {
  const period = resolvePeriod(request.date_range, now, now, request.time_zone)
  const query = resolveQuery(request, projectId, period)
  return buildStatement(planQuery(query, relations, sizes), 'bench')
}

/** Finds the engine of a service that runs on the data folder. @throws when no engine runs there */
export async function findEndpoint(dataDir: string): Promise<Endpoint> {
  const endpoint = await findEngine(dataDir)
  if (endpoint === undefined) throw new Error('no engine runs on the data folder')
  return endpoint
}

export interface BareClient {
  /** @param requestId starts the id of the statement */
  readonly run: <Row>(statement: Statement, requestId?: string) => Promise<ResponseJSON<Row>>
  readonly close: () => Promise<void>
}

/** Creates a client with the settings that the service sends. @param seconds the time limit of a statement */
export function createBareClient(
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
    run: async <Row>({ query, query_params }: Statement, requestId?: string) => {
      const response = await client.query({
        query,
        query_params,
        query_id: createQueryId(requestId),
        format: 'JSON',
        clickhouse_settings: {
          wait_end_of_query: 1,
          http_write_exception_in_output_format: 0,
          max_execution_time: seconds,
          exact_rows_before_limit: 1,
          output_format_json_quote_64bit_integers: 0,
        },
      })
      return response.json<Row>()
    },
    close: () => client.close(),
  }
}
