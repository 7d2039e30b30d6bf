/** The store: ClickHouse as the service uses it, with a connection per account. */
import { connect, type Connection, type Settings, type TraceStatement } from './connection.js'
import { observeConnection, type StatementObserver } from './connection-wrappers.js'
import type { Endpoint } from './endpoint.js'
import { readOnce, readQueryLimits } from './query-limits.js'

export interface Store {
  /** Selects only, within the limits of the account. */
  readonly reader: Connection
  /** The same account over a second connection: slow queries cannot block the lookups that every request needs. */
  readonly lookups: Connection
  /** The same account over a third connection: made-up public tokens cannot block the lookups of API keys. */
  readonly tokenLookups: Connection
  readonly writer: Connection
  readonly admin: Connection
  /** Returns the limits of the API's queries as settings. Read from the reader's account once. */
  readQueryLimits(): Promise<Settings>
  close(): Promise<void>
}

/**
 * Opens the store at an endpoint. Nothing is sent before the first statement.
 *
 * @param observer is called for every statement
 * @param trace runs each statement as a part of a trace
 */
export function connectStore(
  endpoint: Endpoint,
  observer?: StatementObserver,
  trace?: TraceStatement,
): Store {
  const admin = connect(endpoint, 'admin', { trace })
  const reader = connect(endpoint, 'reader', { trace })
  // Lookups are short. To end one in ClickHouse would cost more than to let it end.
  const lookups = connect(endpoint, 'reader', { killsCancelled: false, trace })
  const tokenLookups = connect(endpoint, 'reader', { killsCancelled: false, trace })
  const writer = connect(endpoint, 'writer', { trace })
  const observe = (connection: Connection, name: string): Connection =>
    observer === undefined ? connection : observeConnection(connection, name, observer)
  return {
    reader: observe(reader, 'reader'),
    lookups: observe(lookups, 'lookups'),
    tokenLookups: observe(tokenLookups, 'token_lookups'),
    writer: observe(writer, 'writer'),
    admin: observe(admin, 'admin'),
    readQueryLimits: readOnce(() => readQueryLimits(lookups)),
    close: async () => {
      await Promise.all(
        [reader, lookups, tokenLookups, writer, admin].map((connection) => connection.close()),
      )
    },
  }
}
