/** The connection of one account to ClickHouse. */
import { createClient, type ClickHouseClient } from '@clickhouse/client'
import { randomUUID } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { DAY_MS } from '../lib/time.js'
import type { Account, Endpoint } from './endpoint.js'
import { toConnectionError } from './errors.js'
import type { Connection } from './connection-types.js'
import { createOverseer } from './overseer.js'
import { buildReplicaSettings } from './replica.js'
import { routeConnection } from './route-statements.js'
import { SEMANTIC_SETTINGS } from './semantic-settings.js'
import type { Statement } from './sql.js'
import { execute, runQuery, sendQuery, upload, type Line, type Settings } from './statements.js'
import { sendStream } from './stream-rows.js'
import { runTraced, supervise, type TraceStatement } from './supervise.js'

export type { Connection } from './connection-types.js'
export type { QueryCost, QueryOptions, QueryResult, Settings } from './statements.js'
export type { TraceStatement } from './supervise.js'

interface ConnectOptions {
  /**
   * Whether to end a cancelled statement in ClickHouse, by its id; true by default. Otherwise ClickHouse notices the
   * closed connection itself, but only if the query reports progress.
   */
  readonly killsCancelled?: boolean
  /** Runs each statement as a part of a trace. */
  readonly trace?: TraceStatement | undefined
}

/** The client's level OFF: the service logs failures itself. */
const LOG_OFF = 127

/** Opens the connection of an account. Nothing is sent before the first statement. */
export function connect(
  endpoint: Endpoint,
  account: Account,
  options: ConnectOptions = {},
): Connection {
  const { replicas, database } = endpoint
  return replicas === undefined
    ? connectServer(endpoint, account, options)
    : routeConnection(replicas, (member) =>
        connectServer({ ...member, database }, account, options),
      )
}

function connectServer(
  endpoint: Endpoint,
  account: Account,
  { killsCancelled = true, trace }: ConnectOptions,
): Connection {
  const client = openClient(endpoint, account)
  const overseer = createOverseer(() => openClient({ ...endpoint, database: 'system' }, 'admin'))
  const freshClient = openClient(endpoint, account, { enabled: false })
  const line: Line = { client, freshClient, overseer, killsCancelled, trace }
  const { replica } = endpoint
  const add = (settings: Settings | undefined): Settings | undefined =>
    replica === undefined ? settings : { ...buildReplicaSettings(replica), ...settings }
  return {
    query: (statement, options) => runQuery(line, statement, options),
    stream: (statement, consume, options) => sendStream(line, statement, consume, options),
    execute: (statement, settings, signal) => execute(line, statement, add(settings), signal),
    upload: (statement, bytes, settings, signal) =>
      upload(line, statement, bytes, add(settings), signal),
    download: (statement, consume, settings, signal) =>
      download(line, statement, consume, settings, signal),
    ping: (timeoutMs) => ping(line, timeoutMs),
    close: async () => {
      await Promise.all([client.close(), freshClient.close(), overseer.close()])
    },
    ...(replica !== undefined && { replica }),
  }
}

/** Shorter than the 3 s of the strictest servers, so a socket is not reused while the server closes it. */
const KEEP_ALIVE = { enabled: true, idle_socket_ttl: 2_000, eagerly_destroy_stale_sockets: true }

const openClient = (
  endpoint: Endpoint,
  account: Account,
  keep_alive: { readonly enabled: boolean } = KEEP_ALIVE,
): ClickHouseClient =>
  createClient({
    url: endpoint.url,
    database: endpoint.database,
    ...endpoint.accounts[account],
    application: 'tallyhouse',
    max_open_connections: 32,
    // The client measures silence, and a long statement is silent. Signals and the overseer end what hangs.
    request_timeout: DAY_MS,
    keep_alive,
    log: { level: LOG_OFF },
  })

async function ping(line: Line, timeoutMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(timeoutMs)
  return sendQuery({ ...line, killsCancelled: false, trace: undefined }, PING, { signal }).then(
    () => true,
    () => false,
  )
}
const PING: Statement = { query: 'SELECT 1', query_params: {} }

/** Streams the bytes of a SELECT to a consumer. Bytes that ClickHouse appends when the statement fails are not told apart. */
function download(
  { client, overseer, killsCancelled, trace }: Line,
  { query, query_params }: Statement,
  consume: (bytes: Readable) => Promise<void>,
  settings?: Settings,
  signal?: AbortSignal,
): Promise<void> {
  const query_id = randomUUID()
  const send = async (abort_signal: AbortSignal): Promise<void> => {
    const { stream } = await client.exec({
      query,
      query_params,
      query_id,
      abort_signal,
      clickhouse_settings: { ...SEMANTIC_SETTINGS, ...settings },
    })
    await consume(addAbortSignal(abort_signal, stream))
  }
  return runTraced(trace, 'query', query_id, () =>
    supervise(send, {
      signal,
      watch: overseer.watch(query_id, () => false),
      onCancelled: () => killsCancelled && overseer.kill(query_id),
    }).catch((error: unknown) => {
      throw toConnectionError(error)
    }),
  )
}
