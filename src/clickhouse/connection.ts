/** The connection of one account to ClickHouse. */
import {
  createClient,
  type ClickHouseClient,
  type ClickHouseSettings,
  type ResponseJSON,
} from '@clickhouse/client'
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { MINUTE_MS } from '../lib/time.js'
import type { Account, Endpoint } from './endpoint.js'
import { IncompleteResponseError, QueryCancelledError } from './errors.js'
import type { Statement } from './sql.js'

export type Settings = ClickHouseSettings

export interface QueryResult<Row> {
  readonly rows: readonly Row[]
  /** The number of rows before LIMIT and OFFSET. */
  readonly total: number
  readonly cost: QueryCost
}

/** The cost of a query, as ClickHouse reports it. */
export interface QueryCost {
  readonly rowsRead: number
  /** Uncompressed bytes. */
  readonly bytesRead: number
  /** Milliseconds from start to end, by the clock of ClickHouse. */
  readonly ms: number
}

export interface QueryOptions {
  readonly settings?: Settings
  /** Cancels the query: the caller stops waiting at once, and ClickHouse stops working on it. */
  readonly signal?: AbortSignal
}

export interface Connection {
  /**
   * Runs a SELECT.
   *
   * @throws QueryCancelledError when the signal is aborted, IncompleteResponseError when rows are missing,
   *   the client's ClickHouseError when ClickHouse rejects the statement
   */
  query<Row>(statement: Statement, options?: QueryOptions): Promise<QueryResult<Row>>
  /** Runs a statement without a result: DDL, INSERT … SELECT, KILL. */
  execute(statement: Statement, settings?: Settings): Promise<void>
  /**
   * Streams bytes as the data of an INSERT; the statement names their FORMAT.
   *
   * @param signal ends the insert and destroys its connection; the bytes may have been stored
   */
  upload(
    statement: Statement,
    bytes: Readable,
    settings?: Settings,
    signal?: AbortSignal,
  ): Promise<void>
  /** Returns whether ClickHouse answers a query within `timeoutMs`. */
  ping(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}

/** The client's level OFF: the service logs failures itself. */
const LOG_OFF = 127

/** Settings of every query. */
const QUERY_SETTINGS: Settings = {
  // A query that fails returns only an error. Otherwise the error would follow the rows found before it.
  wait_end_of_query: 1,
  http_write_exception_in_output_format: 0,
  exact_rows_before_limit: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_write_statistics: 1,
}

/**
 * Opens the connection of an account. Nothing is sent before the first statement.
 *
 * @param killQuery ends a cancelled query in ClickHouse, by its id. Without it ClickHouse notices the closed
 *   connection itself, but only if the query reports progress.
 */
export function connect(
  endpoint: Endpoint,
  account: Account,
  killQuery?: (queryId: string) => void,
): Connection {
  const client = openClient(endpoint, account)
  return {
    query: (statement, options) => runQuery(client, statement, options, killQuery),
    execute: async ({ query, query_params }, settings) => {
      await client.command({
        query,
        query_params,
        clickhouse_settings: { wait_end_of_query: 1, ...settings },
      })
    },
    upload: async ({ query, query_params }, bytes, settings, signal) => {
      const { stream } = await client.exec({
        query,
        query_params,
        values: bytes,
        clickhouse_settings: { wait_end_of_query: 1, ...settings },
        ...(signal === undefined ? {} : { abort_signal: signal }),
      })
      stream.resume()
    },
    ping: (timeoutMs) => ping(client, timeoutMs),
    close: () => client.close(),
  }
}

const openClient = (endpoint: Endpoint, account: Account): ClickHouseClient =>
  createClient({
    url: endpoint.url,
    database: endpoint.database,
    ...endpoint.accounts[account],
    application: 'tallyhouse',
    max_open_connections: 32,
    request_timeout: 10 * MINUTE_MS,
    // Shorter than the 3 s of the strictest servers, so a socket is not reused while the server closes it.
    keep_alive: { enabled: true, idle_socket_ttl: 2_000, eagerly_destroy_stale_sockets: true },
    log: { level: LOG_OFF },
  })

async function runQuery<Row>(
  client: ClickHouseClient,
  { query, query_params }: Statement,
  { settings, signal }: QueryOptions = {},
  killQuery?: (queryId: string) => void,
): Promise<QueryResult<Row>> {
  if (signal?.aborted === true) throw new QueryCancelledError(signal.reason)
  const query_id = randomUUID()
  const response = client
    .query({
      query,
      query_params,
      query_id,
      format: 'JSON',
      use_multipart_params_auto: true,
      clickhouse_settings: { ...QUERY_SETTINGS, ...settings },
      ...(signal === undefined ? {} : { abort_signal: signal }),
    })
    .then((result) => result.json<Row>())
  if (signal === undefined) return readResult(await response)
  return readResult(await rejectOnAbort(response, signal, () => killQuery?.(query_id)))
}

/** Rejects as soon as the signal is aborted; the client itself keeps waiting once it has received headers. */
function rejectOnAbort<T>(
  response: Promise<T>,
  signal: AbortSignal,
  onAbort: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new QueryCancelledError(signal.reason))
      onAbort()
    }
    signal.addEventListener('abort', abort, { once: true })
    response.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/**
 * Returns the rows of a response. A response cut short in transit can still parse as JSON, so its own row count
 * is checked.
 *
 * @throws IncompleteResponseError
 */
function readResult<Row>(response: ResponseJSON<Row>): QueryResult<Row> {
  const { data, rows, rows_before_limit_at_least: total, statistics } = response
  const isComplete = !('exception' in response) && rows === data.length && statistics !== undefined
  if (!isComplete) throw new IncompleteResponseError()
  const { rows_read: rowsRead, bytes_read: bytesRead, elapsed } = statistics
  return { rows: data, total: total ?? rows, cost: { rowsRead, bytesRead, ms: elapsed * 1_000 } }
}

async function ping(client: ClickHouseClient, timeoutMs: number): Promise<boolean> {
  try {
    const abort_signal = AbortSignal.timeout(timeoutMs)
    const response = await client.query({ query: 'SELECT 1', abort_signal })
    await response.text()
    return true
  } catch {
    return false
  }
}
