/** The store: ClickHouse as the service uses it, with a connection per account. */
import { SECOND_MS } from '../lib/time.js'
import { connect, type Connection, type Settings, type TraceStatement } from './connection.js'
import { createBreaker, type BreakerObserver } from './breaker.js'
import {
  fenceConnection,
  observeConnection,
  type StatementObserver,
} from './connection-wrappers.js'
import type { Endpoint } from './endpoint.js'
import { readOnce, readQueryLimits } from './query-limits.js'
import { sql, statement } from './sql.js'

/** The three connections of the reader share a breaker: while the store hangs, their queries fail at once. */
export interface Store {
  /** The name of its database. */
  readonly database: string
  /** Selects only, within the limits of the account. */
  readonly reader: Connection
  /** The same account over a second connection: slow queries cannot block the lookups that every request needs. */
  readonly lookups: Connection
  /** The same account over a third connection: made-up public tokens cannot block the lookups of API keys. */
  readonly tokenLookups: Connection
  readonly writer: Connection
  readonly admin: Connection
  /** Lists the connections over which events may be inserted, in the order in which they are tried: one for each replica. */
  readonly listWriters: () => readonly Connection[]
  /** Returns a connection to another store, for queries that read this one too: they fail at once while this one hangs. */
  guardOther(connection: Connection): Connection
  /** Returns the limits of the API's queries as settings. Read from the reader's account once. */
  readQueryLimits(): Promise<Settings>
  close(): Promise<void>
}

const PING = statement(sql`SELECT 1`)
const PING_TIMEOUT_MS = SECOND_MS

/**
 * Opens the store at an endpoint. Nothing is sent before the first statement.
 *
 * @param observer is called for every statement
 * @param trace runs each statement as a part of a trace
 * @param onBreaker is called when the store no longer answers, and when it does again
 */
export function connectStore(
  endpoint: Endpoint,
  observer?: StatementObserver,
  trace?: TraceStatement,
  onBreaker?: BreakerObserver,
): Store {
  const admin = connect(endpoint, 'admin', { trace })
  const pings = connect(endpoint, 'reader', { killsCancelled: false })
  const breaker = createBreaker(
    () => pings.query(PING, { signal: AbortSignal.timeout(PING_TIMEOUT_MS) }),
    onBreaker,
  )
  const reader = breaker.guard(connect(endpoint, 'reader', { trace }))
  // Lookups are short. To end one in ClickHouse would cost more than to let it end.
  const connectLookups = (): Connection =>
    breaker.guard(connect(endpoint, 'reader', { killsCancelled: false, trace }))
  const lookups = connectLookups()
  const tokenLookups = connectLookups()
  const writer = connect(endpoint, 'writer', { trace })
  const { replicas } = endpoint
  const writers = new Map(
    replicas?.members.map((member) => [member, connect(member, 'writer', { trace })]),
  )
  const observe = (connection: Connection, name: string): Connection =>
    observer === undefined ? connection : observeConnection(connection, name, observer)
  const observedWriter = observe(writer, 'writer')
  return {
    database: endpoint.database,
    reader: observe(reader, 'reader'),
    lookups: observe(lookups, 'lookups'),
    tokenLookups: observe(tokenLookups, 'token_lookups'),
    writer: observedWriter,
    listWriters: () =>
      replicas === undefined
        ? [observedWriter]
        : replicas
            .listToWrite()
            .flatMap((member) => writers.get(member) ?? [])
            .map((one) => fenceConnection(one, replicas.getQuorumSignal())),
    admin: observe(admin, 'admin'),
    guardOther: breaker.guardOther,
    readQueryLimits: readOnce(() => readQueryLimits(lookups)),
    close: async () => {
      breaker.stop()
      await Promise.all(
        [pings, reader, lookups, tokenLookups, writer, admin, ...writers.values()].map((one) =>
          one.close(),
        ),
      )
    },
  }
}
