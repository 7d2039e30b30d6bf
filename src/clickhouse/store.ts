/** The store: one connection an account. */
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Connection } from './connection.js'
import type { Endpoint } from './endpoint.js'
import { sql, statement, string } from './sql.js'

export interface Store {
  /** Only selects, within limits. */
  readonly reader: Connection
  /** The reader again, for what every request waits for: no number of slow questions is in its way. */
  readonly lookups: Connection
  readonly writer: Connection
  readonly admin: Connection
  close(): Promise<void>
}

/** A query may be on its way to the engine while it is given up: it is stopped once more a bit later. */
const SECOND_TRY_MS = 500

async function stopQuery(admin: Connection, queryId: string): Promise<void> {
  const kill = statement(sql`KILL QUERY WHERE query_id = ${string(queryId)} ASYNC`)
  for (const wait of [0, SECOND_TRY_MS]) {
    await sleep(wait, undefined, { ref: false })
    // The query ends by its own limit at the latest; a server may also deny KILL to this account.
    await admin.execute(kill).catch(() => undefined)
  }
}

/** Opens the store at an endpoint. */
export function connectStore(endpoint: Endpoint): Store {
  const admin = connect(endpoint, 'admin')
  const reader = connect(endpoint, 'reader', (queryId) => void stopQuery(admin, queryId))
  const lookups = connect(endpoint, 'reader')
  const writer = connect(endpoint, 'writer')
  return {
    reader,
    lookups,
    writer,
    admin,
    close: async () => {
      await Promise.all([reader, lookups, writer, admin].map((connection) => connection.close()))
    },
  }
}
