/** The store: ClickHouse as the service uses it, with a connection per account. */
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Connection } from './connection.js'
import type { Endpoint } from './endpoint.js'
import { sql, statement, string } from './sql.js'

export interface Store {
  /** Selects only, within the limits of the account. */
  readonly reader: Connection
  /** The same account over a second connection: slow queries cannot block the lookups that every request needs. */
  readonly lookups: Connection
  readonly writer: Connection
  readonly admin: Connection
  close(): Promise<void>
}

/** Opens the store at an endpoint. Nothing is sent before the first statement. */
export function connectStore(endpoint: Endpoint): Store {
  const admin = connect(endpoint, 'admin')
  const reader = connect(endpoint, 'reader', (queryId) => void killQuery(admin, queryId))
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

/** A query that was cancelled on its way to ClickHouse may start after the first KILL, so a second one follows. */
const SECOND_KILL_DELAY_MS = 500

async function killQuery(admin: Connection, queryId: string): Promise<void> {
  const kill = statement(sql`KILL QUERY WHERE query_id = ${string(queryId)} ASYNC`)
  for (const delay of [0, SECOND_KILL_DELAY_MS]) {
    await sleep(delay, undefined, { ref: false })
    // The server may deny KILL to this account. The query then ends by its own limits.
    await admin.execute(kill).catch(() => undefined)
  }
}
