/** Sends the statements of a connection, and reads their responses. */
import type {
  ClickHouseClient,
  ClickHouseSettings,
  ExecParams,
  ResponseJSON,
} from '@clickhouse/client'
import { randomUUID } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { SECOND_MS } from '../lib/time.js'
import {
  IncompleteResponseError,
  isConnectionReset,
  parseClickHouseError,
  StoreUnavailableError,
  toConnectionError,
} from './errors.js'
import type { Overseer } from './overseer.js'
import { SEMANTIC_SETTINGS } from './semantic-settings.js'
import type { Statement } from './sql.js'
import { runTraced, supervise, type TraceStatement } from './supervise.js'

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
  /** The request that needs the result: up to 64 letters, digits, `-` and `_`. The query_id starts with it. */
  readonly requestId?: string
}

/** What the statements of a connection share. The fresh client opens a connection for each of them. */
export interface Line {
  readonly client: ClickHouseClient
  readonly freshClient: ClickHouseClient
  readonly overseer: Overseer
  readonly killsCancelled: boolean
  /** Runs each statement as a part of a trace; undefined to trace none. */
  readonly trace: TraceStatement | undefined
}

/**
 * Responses that are sent when their statement has ended. Those of up to 4 MiB wait in memory and larger ones in a file, so small
 * ones need no disk. ClickHouse takes no notice of a size of 1 MiB or less.
 */
const WHOLE_RESPONSES: Settings = {
  wait_end_of_query: 1,
  http_response_buffer_size: String(4 * 1024 ** 2),
}

/** Settings of every query. */
const QUERY_SETTINGS: Settings = {
  ...SEMANTIC_SETTINGS,
  // A query that fails returns only an error. Otherwise the error would follow the rows found before it.
  ...WHOLE_RESPONSES,
  http_write_exception_in_output_format: 0,
  exact_rows_before_limit: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_write_statistics: 1,
}

/**
 * A connection that breaks this soon was closed before the query came, as others may be: a new one sends it again. A busy machine
 * hears of it late. A query that ran for longer may itself be what broke the connection.
 */
const RESEND_WITHIN_MS = 10 * SECOND_MS

/** Runs a SELECT. */
export async function runQuery<Row>(
  line: Line,
  statement: Statement,
  options: QueryOptions = {},
): Promise<QueryResult<Row>> {
  const begun = performance.now()
  try {
    return await sendQuery(line, statement, options)
  } catch (error) {
    const isStale = isConnectionReset(error) && performance.now() - begun < RESEND_WITHIN_MS
    if (isStale) return sendQuery({ ...line, client: line.freshClient }, statement, options)
    throw error
  }
}

/** Sends a SELECT once. */
export function sendQuery<Row>(
  { client, overseer, killsCancelled, trace }: Line,
  { query, query_params }: Statement,
  { settings, signal, requestId }: QueryOptions,
): Promise<QueryResult<Row>> {
  const query_id = createQueryId(requestId)
  const send = async (abort_signal: AbortSignal): Promise<ResponseJSON<Row>> => {
    const result = await client.query({
      query,
      query_params,
      query_id,
      abort_signal,
      format: 'JSON',
      use_multipart_params_auto: true,
      clickhouse_settings: { ...QUERY_SETTINGS, ...settings },
    })
    // The client itself keeps waiting for the body when the signal is aborted.
    abort_signal.addEventListener('abort', () => result.close(), { once: true })
    return result.json<Row>()
  }
  return runTraced(trace, 'query', query_id, async () => {
    const response = await supervise(send, {
      signal,
      watch: overseer.watch(query_id),
      onCancelled: () => killsCancelled && overseer.kill(query_id),
    }).catch(rethrowConnectionError)
    return readResult(response)
  })
}

/** Creates an id that no other statement has, even if two requests have the same id: KILL stops a query by it. */
export const createQueryId = (requestId: string | undefined): string =>
  requestId === undefined ? randomUUID() : `${requestId}-${randomUUID()}`

/** Runs a statement without a result, and waits for its outcome when the connection breaks. */
export function execute(
  { client, overseer, killsCancelled, trace }: Line,
  { query, query_params }: Statement,
  settings?: Settings,
  signal?: AbortSignal,
): Promise<void> {
  const query_id = randomUUID()
  const send = sendWithoutResult(client, { query, query_params, query_id }, settings)
  return runTraced(trace, 'execute', query_id, async () => {
    try {
      await supervise(send, {
        signal,
        watch: overseer.watch(query_id),
        onCancelled: () => killsCancelled && overseer.kill(query_id),
      }).catch(rethrowConnectionError)
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      await overseer.awaitOutcome(query_id, error, signal)
    }
  })
}

/** Streams bytes as the data of an INSERT. */
export function upload(
  { client, overseer, trace }: Line,
  { query, query_params }: Statement,
  bytes: Readable,
  settings?: Settings,
  signal?: AbortSignal,
): Promise<void> {
  const query_id = randomUUID()
  const insert = { query, query_params, query_id, values: bytes }
  const send = sendWithoutResult(client, insert, settings)
  const watch = overseer.watch(query_id, () => bytes.readableEnded)
  return runTraced(trace, 'upload', query_id, () =>
    supervise(send, { signal, watch }).catch(rethrowConnectionError),
  )
}

function rethrowConnectionError(error: unknown): never {
  throw toConnectionError(error)
}

/**
 * Returns a call that sends a statement without a result. Anything in the body of its response is an error, of ClickHouse
 * or of a proxy, and a response without a header of ClickHouse is not ClickHouse's.
 */
const sendWithoutResult =
  (client: ClickHouseClient, params: ExecParams & { values?: Readable }, settings?: Settings) =>
  async (abort_signal: AbortSignal): Promise<void> => {
    const clickhouse_settings = { ...SEMANTIC_SETTINGS, ...WHOLE_RESPONSES, ...settings }
    const { stream, response_headers } = await client.exec({
      ...params,
      abort_signal,
      clickhouse_settings,
    })
    const body = await text(addAbortSignal(abort_signal, stream))
    const isFromClickHouse = response_headers['x-clickhouse-query-id'] !== undefined
    if (body !== '' || !isFromClickHouse) throw parseClickHouseError(body)
  }

/**
 * Returns the rows of a response. A response cut short in transit can still parse as JSON, so its own row count
 * is checked.
 *
 * @throws IncompleteResponseError
 */
function readResult<Row>(response: ResponseJSON<Row> | null): QueryResult<Row> {
  if (!Array.isArray(response?.data)) throw new IncompleteResponseError()
  const { data, rows, rows_before_limit_at_least: total, statistics } = response
  const isComplete = !('exception' in response) && rows === data.length && statistics !== undefined
  if (!isComplete) throw new IncompleteResponseError()
  const { rows_read: rowsRead, bytes_read: bytesRead, elapsed } = statistics
  return { rows: data, total: total ?? rows, cost: { rowsRead, bytesRead, ms: elapsed * 1_000 } }
}
