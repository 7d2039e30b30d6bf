/** The table `leases` of a store that has replicas: its rows lie in Keeper, so all replicas see the same ones. */
import { SECOND_MS } from '../../lib/time.js'
import type { Connection } from '../connection.js'
import { getClickHouseReason } from '../errors.js'
import type { Replica } from '../replica.js'
import { sql, statement, string, type Sql } from '../sql.js'
import { HOLDER } from './lease-types.js'

/** Without Keeper, a statement would wait for half a minute. */
const TIMEOUT_MS = 4 * SECOND_MS

/** Creates the table on a replica. Its rows are those that the other replicas have. */
export const createKeeperRows = (admin: Connection, { path }: Replica): Promise<void> =>
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

/** Reads rows. @param timeoutMs how long Keeper may take */
export async function readKeeperRows<Row>(
  connection: Connection,
  query: Sql,
  timeoutMs = TIMEOUT_MS,
): Promise<readonly Row[]> {
  const { rows } = await connection.query<Row>(statement(query), {
    signal: AbortSignal.timeout(timeoutMs),
  })
  return rows
}

/** Changes rows. In strict mode, to insert a row that exists is an error. */
export const writeKeeper = (connection: Connection, change: Sql, isStrict = false): Promise<void> =>
  connection.execute(
    statement(change),
    { keeper_map_strict_mode: isStrict ? 1 : 0 },
    AbortSignal.timeout(TIMEOUT_MS),
  )

/** Inserts a row that names this process and the replica of the connection, or replaces it. */
export const writeKeeperRow = (
  connection: Connection,
  key: Sql,
  state: string,
  isStrict = false,
): Promise<void> =>
  writeKeeper(
    connection,
    sql`
INSERT INTO leases (key, state, at, holder, replica)
SELECT ${key}, ${string(state)}, now64(3), ${string(HOLDER)}, ${string(connection.replica?.name ?? '')}`,
    isStrict,
  )

/** Inserts a row unless there is one with its key. Returns whether it was inserted: of two processes that try, one succeeds. */
export async function insertKeeperRow(
  connection: Connection,
  key: Sql,
  state: string,
): Promise<boolean> {
  try {
    await writeKeeperRow(connection, key, state, true)
    return true
  } catch (error) {
    if (isExisting(error)) return false
    throw error
  }
}

/** Whether the row exists already: Keeper's error, as ClickHouse passes it on. */
export const isExisting = (error: unknown): boolean =>
  getClickHouseReason(error)?.includes('Node exists') === true
