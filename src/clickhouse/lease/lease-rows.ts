/**
 * Leases of a store that has replicas: rows of a table that lies in Keeper, so all replicas see the same ones. Of two processes that
 * insert the row of one generation, exactly one succeeds.
 */
import { SECOND_MS } from '../../lib/time.js'
import type { Connection } from '../connection.js'
import { getClickHouseReason } from '../errors.js'
import type { Replica } from '../replica.js'
import { sql, statement, string, uint32, type Sql } from '../sql.js'
import { GenerationLostError, HOLDER, type LeaseName, type LeaseStore } from './lease-types.js'

/** Without Keeper, a statement would wait for half a minute. */
const TIMEOUT_MS = 4 * SECOND_MS

/** Creates the table on a replica. Its rows are those that the other replicas have. */
export const createLeaseRows = (admin: Connection, { path }: Replica): Promise<void> =>
  admin.execute({
    query: `
CREATE TABLE IF NOT EXISTS leases
(
  -- The name and the generation, such as loader/7; loader/7/wanted is the request to release it.
  key     String,
  state   String,
  at      DateTime64(3, 'UTC'),
  holder  String,
  replica String
)
ENGINE = KeeperMap('${path}/leases')
PRIMARY KEY key`,
    query_params: {},
  })

const getKey = (name: LeaseName, number: number): Sql => string(`${name}/${number}`)
const getRequestKey = (name: LeaseName, number: number): Sql => string(`${name}/${number}/wanted`)

async function read<Row>(connection: Connection, query: Sql): Promise<readonly Row[]> {
  const { rows } = await connection.query<Row>(statement(query), {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  return rows
}

const write = (connection: Connection, change: Sql, isStrict = false): Promise<void> =>
  connection.execute(
    statement(change),
    { keeper_map_strict_mode: isStrict ? 1 : 0 },
    AbortSignal.timeout(TIMEOUT_MS),
  )

/** Inserts a row, or replaces it. In strict mode, a row that exists is an error. */
const writeRow = (
  connection: Connection,
  key: Sql,
  state: string,
  isStrict = false,
): Promise<void> =>
  write(
    connection,
    sql`
INSERT INTO leases (key, state, at, holder, replica)
SELECT ${key}, ${string(state)}, now64(3), ${string(HOLDER)}, ${string(connection.replica?.name ?? '')}`,
    isStrict,
  )

/** Whether the row exists already: Keeper's error, as ClickHouse passes it on. */
const isExisting = (error: unknown): boolean =>
  getClickHouseReason(error)?.includes('Node exists') === true

const listGenerations: LeaseStore['listGenerations'] = (connection, name) =>
  read(
    connection,
    sql`
SELECT toUInt32(extract(key, '[0-9]+$')) AS number, dateDiff('millisecond', at, now64(3)) AS age
FROM leases WHERE match(key, ${string(`^${name}/[0-9]+$`)})
ORDER BY number DESC`,
  )

export const LEASE_ROWS: LeaseStore = {
  listGenerations,
  async createGeneration(connection, name, number) {
    try {
      await writeRow(connection, getKey(name, number), 'held', true)
      return true
    } catch (error) {
      if (isExisting(error)) return false
      throw error
    }
  },
  dropGeneration: (connection, name, number) =>
    write(connection, sql`ALTER TABLE leases DELETE WHERE key = ${getKey(name, number)}`),
  async writeLeaseState(connection, name, number, state) {
    await writeRow(connection, getKey(name, number), state)
    // The row may have been dropped, and is there again. The newest generation counts, so that changes nothing.
    const [newest] = await listGenerations(connection, name)
    if (newest === undefined || newest.number > number) throw new GenerationLostError()
  },
  async readHolderState(connection, name, { number }) {
    const [row] = await read<{ state: string; silence: number; holder: string }>(
      connection,
      sql`
SELECT state, dateDiff('millisecond', at, now64(3)) AS silence, holder
FROM leases WHERE key = ${getKey(name, number)}`,
    )
    if (row === undefined) return undefined
    return { isReleased: row.state === 'released', silence: row.silence, name: row.holder }
  },
  async requestRelease(connection, name, number) {
    try {
      await writeRow(connection, getRequestKey(name, number), 'wanted')
    } catch (error) {
      // Another process has requested it at the same moment.
      if (!isExisting(error)) throw error
    }
  },
  async isReleaseRequested(connection, name, number) {
    const rows = await read(
      connection,
      sql`SELECT 1 FROM leases WHERE key = ${getRequestKey(name, number)}`,
    )
    return rows.length > 0
  },
  dropReleaseRequests: (connection, name, number) =>
    write(
      connection,
      sql`
ALTER TABLE leases DELETE
WHERE match(key, ${string(`^${name}/[0-9]+/wanted$`)}) AND toUInt32OrZero(extract(key, '[0-9]+')) < ${uint32(number)}`,
    ),
}
