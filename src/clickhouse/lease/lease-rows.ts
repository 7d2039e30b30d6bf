/**
 * Leases of a store that has replicas: rows of a table that lies in Keeper, so all replicas see the same ones. Of two processes that
 * insert the row of one generation, exactly one succeeds.
 */
import { sql, string, uint32, type Sql } from '../sql.js'
import {
  insertKeeperRow,
  isExisting,
  readKeeperRows as read,
  writeKeeper as write,
  writeKeeperRow as writeRow,
} from './keeper-rows.js'
import { GenerationLostError, type LeaseName, type LeaseStore } from './lease-types.js'

const getKey = (name: LeaseName, number: number): Sql => string(`${name}/${number}`)
const getRequestKey = (name: LeaseName, number: number): Sql => string(`${name}/${number}/wanted`)

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
  createGeneration: (connection, name, number) =>
    insertKeeperRow(connection, getKey(name, number), 'held'),
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
