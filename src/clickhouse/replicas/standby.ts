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

/** A table or view that every replica has. */
export interface SharedTable {
  readonly name: string
  readonly engine: string
  /** The statement that creates it, without the name of a replica; empty if it is not known. */
  readonly query: string
}

/** The engines of tables that all replicas have, in the order in which they are created. */
const SHARED_ENGINES = '^(Replicated.*|KeeperMap|Null|Join|MaterializedView)$'
/** Only tables of running work have a number in their names. They belong to one replica. */
const HAS_NUMBER = '[0-9]'

/** Lists the tables and views that the other replicas should have as well. */
export async function listShared(connection: Connection): Promise<readonly SharedTable[]> {
  const { rows } = await connection.query<SharedTable>(
    statement(sql`
SELECT name, engine, create_table_query AS query FROM system.tables
WHERE database = currentDatabase() AND match(engine, ${string(SHARED_ENGINES)}) AND NOT match(name, ${string(HAS_NUMBER)})
ORDER BY engine = 'MaterializedView', name`),
  )
  const own = connection.replica?.name ?? ''
  return rows.map((table) => ({ ...table, query: moveToReplica(table.query, own, '') }))
}

/** Whether a table has rows, or a state in Keeper. Others can be dropped and created again. */
export const hasState = ({ engine }: Pick<SharedTable, 'engine'>): boolean =>
  engine.startsWith('Replicated') || engine === 'KeeperMap'

/** Hashes what could differ between replicas: replicated tables have the same columns everywhere, so of them only the name. */
export function hashShared(tables: readonly SharedTable[]): string {
  const texts = tables.map((table) =>
    hasState(table) ? table.name : `${table.name} ${table.query}`,
  )
  return createHash('sha256').update(texts.join('\n')).digest('hex')
}

/** Hashes the tables and views of a replica. */
export const hashTables = async (connection: Connection): Promise<string> =>
  hashShared(await listShared(connection))

/**
 * Creates on a standby the tables and views that it lacks, and replaces views and tables without rows that differ. The caller holds the
 * lease `loader`, so that the active replica does not change meanwhile.
 *
 * @param wanted those of the active replica
 * @throws Error when the standby has a table that the active one lacks: which of them is right is not known; or when it lacks one whose
 *   statement is not known
 */
export async function alignStandby(
  wanted: readonly SharedTable[],
  standby: Connection,
): Promise<void> {
  const found = await listShared(standby)
  const extra = found.filter(({ name }) => !wanted.some((table) => table.name === name))
  const kept = extra.find(hasState)
  if (kept !== undefined) {
    throw new Error(
      `${describe(standby)} has a table ${kept.name}, and the active replica has none`,
    )
  }
  const isEqual = (table: SharedTable): boolean =>
    found.some(
      ({ name, query }) => name === table.name && (hasState(table) || query === table.query),
    )
  const missing = wanted.filter((table) => !isEqual(table))
  const unknown = missing.find(({ query }) => query === '')
  if (unknown !== undefined) throw new Error(`${describe(standby)} lacks the table ${unknown.name}`)
  const outdated = found.filter(
    ({ name }) =>
      extra.some((table) => table.name === name) || missing.some((table) => table.name === name),
  )
  // Views first: a view without its target fails inserts.
  for (const { name } of outdated.toReversed()) {
    await standby.execute(statement(sql`DROP TABLE IF EXISTS ${identifier(name)} SYNC`))
  }
  for (const { query } of missing) {
    const own = moveToReplica(query, '', standby.replica?.name ?? '')
    await standby.execute({ query: own, query_params: {} })
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
  const tables = (await listShared(admin)).filter(({ engine }) => engine.startsWith('Replicated'))
  const lacking = new Map<string, string>()
  const sync = async ({ name }: SharedTable): Promise<void> => {
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
