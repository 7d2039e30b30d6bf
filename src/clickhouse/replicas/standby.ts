/**
 * Keeps the replicas of a store alike, so that any of them can be the active one. ClickHouse replicates rows, and the columns of
 * replicated tables. Everything else a server has by itself: which tables there are, tables without rows, and views.
 */
import { createHash } from 'node:crypto'
import { settleAll } from '../../lib/settle.js'
import { SECOND_MS } from '../../lib/time.js'
import type { Connection } from '../connection.js'
import { getClickHouseReason } from '../errors.js'
import { identifier, sql, statement, string } from '../sql.js'
import { moveToReplica } from './engines.js'

interface Table {
  readonly name: string
  readonly engine: string
  /** The statement that creates it. */
  readonly query: string
}

/** The engines of tables that all replicas have, in the order in which they are created. */
const SHARED_ENGINES = '^(Replicated.*|KeeperMap|Null|Join|MaterializedView)$'
/** Only tables of running work have a number in their names. They belong to one replica. */
const HAS_NUMBER = '[0-9]'

async function listTables(connection: Connection): Promise<readonly Table[]> {
  const { rows } = await connection.query<Table>(
    statement(sql`
SELECT name, engine, create_table_query AS query FROM system.tables
WHERE database = currentDatabase() AND match(engine, ${string(SHARED_ENGINES)}) AND NOT match(name, ${string(HAS_NUMBER)})
ORDER BY engine = 'MaterializedView', name`),
  )
  return rows
}

/** Whether a table has rows, or a state in Keeper. Others can be dropped and created again. */
const hasState = ({ engine }: Table): boolean =>
  engine.startsWith('Replicated') || engine === 'KeeperMap'

/**
 * Names the tables and views of a replica, as far as any of them could differ from those of another one. Replicated tables have the
 * same columns everywhere.
 */
export async function hashTables(connection: Connection): Promise<string> {
  const own = connection.replica?.name ?? ''
  const tables = (await listTables(connection)).map((table) =>
    hasState(table) ? table.name : `${table.name} ${moveToReplica(table.query, own, '')}`,
  )
  return createHash('sha256').update(tables.join('\n')).digest('hex')
}

/**
 * Creates on a standby the tables and views that it lacks, as the active replica has them, and replaces views and tables without rows
 * that differ. The caller holds the lease `loader`, so that the active one does not change meanwhile.
 *
 * @throws Error when the standby has a table that the active one lacks: which of them is right is not known
 */
export async function alignStandby(active: Connection, standby: Connection): Promise<void> {
  const [wanted, found] = await Promise.all([listTables(active), listTables(standby)])
  const extra = found.filter(({ name }) => !wanted.some((table) => table.name === name))
  const kept = extra.find(hasState)
  if (kept !== undefined) {
    throw new Error(
      `${describe(standby)} has a table ${kept.name}, and ${describe(active)} has none`,
    )
  }
  const create = (table: Table): string =>
    moveToReplica(table.query, active.replica?.name ?? '', standby.replica?.name ?? '')
  const isEqual = (table: Table): boolean =>
    found.some(
      ({ name, query }) => name === table.name && (hasState(table) || query === create(table)),
    )
  const missing = wanted.filter((table) => !isEqual(table))
  const outdated = found.filter(
    ({ name }) =>
      extra.some((table) => table.name === name) || missing.some((table) => table.name === name),
  )
  // Views first: a view without its target fails inserts.
  for (const { name } of outdated.toReversed()) {
    await standby.execute(statement(sql`DROP TABLE IF EXISTS ${identifier(name)} SYNC`))
  }
  for (const table of missing) {
    await standby.execute({ query: create(table), query_params: {} })
  }
}

const describe = ({ replica }: Connection): string => `replica ${replica?.name ?? ''}`

const SYNC_TIMEOUT_MS = 10 * SECOND_MS

/**
 * Waits until a replica has all that was confirmed by others before this call.
 *
 * @returns the tables that lack something, each with why; none if the replica may become the active one
 */
export async function findLacking(
  admin: Connection,
  timeoutMs = SYNC_TIMEOUT_MS,
): Promise<ReadonlyMap<string, string>> {
  const tables = (await listTables(admin)).filter(({ engine }) => engine.startsWith('Replicated'))
  const lacking = new Map<string, string>()
  const sync = async ({ name }: Table): Promise<void> => {
    try {
      // The last part of the statement waits for what others have inserted, and not for merges.
      await admin.execute(
        statement(sql`SYSTEM SYNC REPLICA ${identifier(name)} LIGHTWEIGHT`),
        { receive_timeout: timeoutMs / SECOND_MS },
        AbortSignal.timeout(timeoutMs),
      )
    } catch (error) {
      lacking.set(name, getClickHouseReason(error) ?? 'it did not get all rows in time')
    }
  }
  await settleAll(tables.map(sync))
  return lacking
}
