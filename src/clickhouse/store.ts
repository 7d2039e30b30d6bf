/** The store: one connection an account. */
import { connect, type Connection } from './connection.js'
import type { Endpoint } from './endpoint.js'
import { sql, statement, string } from './sql.js'

export interface Store {
  /** Only selects, within limits. */
  readonly reader: Connection
  readonly writer: Connection
  readonly admin: Connection
  close(): Promise<void>
}

/** Opens the store at an endpoint. */
export function openStore(endpoint: Endpoint): Store {
  const admin = connect(endpoint, 'admin')
  const stop = (queryId: string): void => {
    const kill = statement(sql`KILL QUERY WHERE query_id = ${string(queryId)} ASYNC`)
    // The query ends by its own limit at the latest; a server may also deny KILL to this account.
    admin.execute(kill).catch(() => undefined)
  }
  const reader = connect(endpoint, 'reader', stop)
  const writer = connect(endpoint, 'writer')
  return {
    reader,
    writer,
    admin,
    close: async () => {
      await Promise.all([reader.close(), writer.close(), admin.close()])
    },
  }
}
