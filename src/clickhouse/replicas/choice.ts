/** Who is the active replica: rows of the table `leases`, of which the one with the highest number counts. They are never released. */
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Connection } from '../connection.js'
import {
  insertKeeperRow,
  readKeeperRows,
  writeKeeper,
  writeKeeperRow,
} from '../lease/keeper-rows.js'
import { sql, string, uint32, type Sql } from '../sql.js'
import type { Look } from '../endpoint.js'
import { SECOND_MS } from '../../lib/time.js'
import { hasState, type SharedTable } from './standby.js'

/** How often a service asks the active replica who is active. */
export const LOOK_INTERVAL_MS = 250
/** A replica that takes longer to say who is active is silent. */
export const LOOK_TIMEOUT_MS = SECOND_MS
/** How long a service may not know of a choice: it has just asked, or it waits for the response. */
export const SPREAD_MS = LOOK_INTERVAL_MS + LOOK_TIMEOUT_MS

const ACTIVE = 'active/'
const NUMBER = sql`toUInt32OrZero(extract(key, '[0-9]+$'))`
const IS_CHOICE = sql`startsWith(key, ${string(ACTIVE)})`
/** The row that says since when events are stored on one disk only. */
const ALONE = string('alone')
/** The last table that a standby gets. Once it is there, inserts into all tables can have a quorum. */
const LAST_TABLE = sql`'users_monthly'`

/** Asks a replica who is active. @throws when it does not answer, or does not reach Keeper */
export async function readChoice(connection: Connection, timeoutMs?: number): Promise<Look> {
  const [row] = await readKeeperRows<Look>(
    connection,
    sql`
SELECT number, active, total, live, aloneSeconds FROM (
  SELECT
    maxIf(${NUMBER}, ${IS_CHOICE}) AS number, argMaxIf(replica, ${NUMBER}, ${IS_CHOICE}) AS active,
    toUInt32(maxIf(dateDiff('second', at, now64(3)), key = ${ALONE})) AS aloneSeconds
  FROM leases
) AS chosen CROSS JOIN (
  SELECT toUInt32(max(total_replicas)) AS total, toUInt32(max(active_replicas)) AS live
  FROM system.replicas WHERE database = currentDatabase() AND table = ${LAST_TABLE}
) AS replicas`,
    timeoutMs,
  )
  if (row === undefined) throw new TypeError('an aggregation has a row')
  return row
}

/**
 * Makes the replica of a connection the active one, unless another one was chosen since `number`. The caller holds the lease `loader`.
 *
 * @returns whether it is active now
 */
export async function choose(connection: Connection, number: number): Promise<boolean> {
  if (!(await insertKeeperRow(connection, string(`${ACTIVE}${number + 1}`), 'active'))) return false
  await writeKeeper(
    connection,
    sql`ALTER TABLE leases DELETE WHERE ${IS_CHOICE} AND ${NUMBER} <= ${uint32(number)}`,
  )
  return true
}

/** Records that events are stored on one disk only from now on, if that is not recorded yet; or that they are on two again. */
export async function recordAlone(connection: Connection, isAlone: boolean): Promise<void> {
  if (isAlone) await insertKeeperRow(connection, ALONE, 'alone')
  else await writeKeeper(connection, sql`ALTER TABLE leases DELETE WHERE key = ${ALONE}`)
}

/** The row that says which tables and views every replica must have. */
const TABLES: Sql = string('tables')

/** What is recorded instead while migrations change them. A standby lacks what they create, so it cannot take over then. */
export const MIGRATING = 'migrating'

/** Records the tables and views of the active replica. The caller holds the lease `loader`. */
export const recordTables = (
  connection: Connection,
  tables: readonly SharedTable[] | typeof MIGRATING,
): Promise<void> => writeKeeperRow(connection, TABLES, tables === MIGRATING ? tables : pack(tables))

/** Reads what was recorded last; undefined if nothing was, and while migrations change the tables. */
export async function readTables(
  connection: Connection,
): Promise<readonly SharedTable[] | undefined> {
  const rows = await readKeeperRows<{ state: string }>(
    connection,
    sql`SELECT state FROM leases WHERE key = ${TABLES}`,
  )
  const state = rows[0]?.state
  return state === undefined || state === MIGRATING ? undefined : unpack(state)
}

/** The row is read with each look, so it is small: only what can be created without the rows of another replica has its statement. */
const pack = (tables: readonly SharedTable[]): string => {
  const brief = tables.map((table) => (hasState(table) ? { ...table, query: '' } : table))
  return gzipSync(JSON.stringify(brief)).toString('base64')
}
const unpack = (state: string): readonly SharedTable[] =>
  JSON.parse(gunzipSync(Buffer.from(state, 'base64')).toString()) as readonly SharedTable[]
