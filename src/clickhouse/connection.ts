/** One account's connection to ClickHouse, over its client. */
import { createClient, type ClickHouseSettings, type ResponseJSON } from '@clickhouse/client'
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Account, Endpoint } from './endpoint.js'
import { IncompleteResponseError, QueryCancelledError } from './errors.js'
import type { Statement } from './sql.js'

export type Settings = ClickHouseSettings

/** The rows of an answer, and how many there were before its LIMIT and OFFSET. */
export interface QueryResult<Row> {
  readonly rows: readonly Row[]
  readonly total: number
  readonly cost: QueryCost
}

/** What an answer cost the engine. */
export interface QueryCost {
  readonly rowsRead: number
  readonly bytesRead: number
  readonly ms: number
}

export interface QueryOptions {
  readonly settings?: Settings
  /** Ends the wait at once, and the query in the engine with it. */
  readonly signal?: AbortSignal
}

export interface Connection {
  /** Runs a SELECT and checks that the answer is whole. */
  query<Row>(statement: Statement, options?: QueryOptions): Promise<QueryResult<Row>>
  /** Runs a statement that answers nothing: DDL, INSERT … SELECT, KILL. */
  execute(statement: Statement, settings?: Settings): Promise<void>
  /** Streams bytes as the data of an INSERT; `statement` names their FORMAT. */
  upload(statement: Statement, bytes: Readable, settings?: Settings): Promise<void>
  /** Asks whether the server answers within `timeout` milliseconds. */
  ping(timeout: number): Promise<boolean>
  close(): Promise<void>
}

const ALWAYS: Settings = {
  // A failing statement answers an error and no rows, instead of an error behind half of its rows.
  wait_end_of_query: 1,
  http_write_exception_in_output_format: 0,
  exact_rows_before_limit: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_write_statistics: 1,
}

/**
 * Opens a connection of one account. Nothing is sent before the first statement.
 *
 * @param stop ends a query in the engine by its id; without it an abandoned query is left to the
 *   engine, which notices a closed connection only where it reports progress.
 */
export function connect(
  endpoint: Endpoint,
  account: Account,
  stop?: (queryId: string) => void,
): Connection {
  const client = createClient({
    url: endpoint.url,
    database: endpoint.database,
    ...endpoint.accounts[account],
    application: 'tallyhouse',
    max_open_connections: 32,
    request_timeout: 600_000,
    // Shorter than the 3 s of the strictest servers: a socket is never reused as the server closes it.
    keep_alive: { enabled: true, idle_socket_ttl: 2_000, eagerly_destroy_stale_sockets: true },
    log: { level: 127 },
  })

  return {
    async query<Row>({ query, query_params }: Statement, { settings, signal }: QueryOptions = {}) {
      if (signal?.aborted === true) throw new QueryCancelledError(signal.reason)
      const query_id = randomUUID()
      const work = client
        .query({
          query,
          query_params,
          query_id,
          format: 'JSON',
          use_multipart_params_auto: true,
          clickhouse_settings: { ...ALWAYS, ...settings },
          ...(signal === undefined ? {} : { abort_signal: signal }),
        })
        .then((answer) => answer.json<Row>())
      return complete(await (signal === undefined ? work : unlessStopped(work, signal, query_id)))
    },

    async execute({ query, query_params }, settings) {
      await client.command({
        query,
        query_params,
        clickhouse_settings: { wait_end_of_query: 1, ...settings },
      })
    },

    async upload({ query, query_params }, bytes, settings) {
      const { stream } = await client.exec({
        query,
        query_params,
        values: bytes,
        clickhouse_settings: { wait_end_of_query: 1, ...settings },
      })
      stream.resume()
    },

    ping: async (timeout) =>
      client
        .query({ query: 'SELECT 1', abort_signal: AbortSignal.timeout(timeout) })
        .then((answer) => answer.text())
        .then(
          () => true,
          () => false,
        ),

    close: () => client.close(),
  }

  /** Rejects as soon as the signal comes; the client itself would wait on once headers are there. */
  function unlessStopped<T>(work: Promise<T>, signal: AbortSignal, queryId: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        reject(new QueryCancelledError(signal.reason))
        stop?.(queryId)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    })
  }
}

/** An answer cut short in transit can parse as JSON; its own row count gives it away. */
function complete<Row>(answer: ResponseJSON<Row>): QueryResult<Row> {
  const { data, rows, rows_before_limit_at_least: total, statistics } = answer
  const isWhole = !('exception' in answer) && rows === data.length && statistics !== undefined
  if (!isWhole) throw new IncompleteResponseError()
  const { rows_read: rowsRead, bytes_read: bytesRead, elapsed } = statistics
  return { rows: data, total: total ?? rows, cost: { rowsRead, bytesRead, ms: elapsed * 1_000 } }
}
