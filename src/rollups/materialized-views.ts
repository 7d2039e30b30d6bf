/** Creates and drops the materialized views that fill the rollups, and hashes their definitions. */
import { createHash, randomUUID } from 'node:crypto'
import type { Connection } from '../clickhouse/connection.js'
import { identifier, sql, statement } from '../clickhouse/sql.js'
import {
  dropTables,
  dropViews,
  isView,
  matchNames,
  type TableNames,
} from '../clickhouse/temporary-tables.js'
import { LIVE, SET_TABLES, type RollupTables } from '../model/rollup-table-sets.js'
import { defineSingleViews, defineViews } from './view-definitions.js'

const getViewPrefix = ({ prefix }: RollupTables): string => `${prefix}feed_`

/**
 * Creates the views between the tables that are missing. Those of pairs take time with each load, so there are none until a project
 * has pairs. On a replica, a comment tells a view from one of the same name that was dropped: the UUID of a view differs between replicas.
 */
export async function createViews(connection: Connection, tables: RollupTables): Promise<void> {
  const { rows } = await connection.query(statement(sql`SELECT 1 FROM paired_projects LIMIT 1`))
  const views = rows.length > 0 ? defineViews(tables) : defineSingleViews(tables)
  for (const { name, target, select } of views) {
    const view = identifier(`${getViewPrefix(tables)}${name}`)
    const { query, query_params } = statement(
      sql`CREATE MATERIALIZED VIEW IF NOT EXISTS ${view} TO ${target} AS ${select}`,
    )
    // A comment takes no parameter.
    const comment = connection.replica === undefined ? '' : ` COMMENT '${randomUUID()}'`
    await connection.execute({ query: `${query}${comment}`, query_params })
  }
}

/** Matches the names of views, of any definition. */
const matchViews = (prefix: string): TableNames => matchNames(`${prefix}feed_`, ['[a-z_]+'])

/** The names of the views that fill the live rollups, under any definition, and of the tables that these write into. */
const LIVE_VIEWS = [matchViews(LIVE.prefix), matchNames(LIVE.prefix, SET_TABLES)] as const

/** Drops the views that fill the live rollups, including those of another definition. */
export const dropLiveViews = (connection: Connection): Promise<void> =>
  dropViews(connection, ...LIVE_VIEWS)

/** Returns a hash of the views that fill the live rollups; empty without views. Views that are created again have another. */
export async function hashLiveViews(connection: Connection): Promise<string> {
  const { rows } = await connection.query<{ views: string }>(
    statement(sql`
SELECT if(count() = 0, '', hex(sipHash128(arraySort(groupArray((name, if(comment != '', comment, toString(uuid)))))))) AS views FROM system.tables
WHERE ${isView(...LIVE_VIEWS)}`),
  )
  return rows[0]?.views ?? ''
}

/**
 * Drops sets of temporary tables, and the views between them.
 *
 * @param prefix the prefix of the sets, as a regular expression
 * @param others the names of further tables with that prefix
 * @param waits whether to wait for statements that still use them
 */
export async function dropTableSets(
  connection: Connection,
  prefix: string,
  others: readonly string[] = [],
  waits = true,
): Promise<void> {
  const tables = matchNames(prefix, [...SET_TABLES, ...others])
  await dropViews(connection, matchViews(prefix), tables, waits)
  await dropTables(connection, tables, waits)
  // A process that was suspended may have created a view in between. Without its tables it creates no more.
  await dropViews(connection, matchViews(prefix), tables, waits)
}

/** Hashes this build's view definitions: SHA-256 in hexadecimal. A store with another hash must rebuild its rollups. */
export function hashDefinitions(): string {
  const hash = createHash('sha256')
  for (const { name, target, select } of defineViews(LIVE)) {
    hash.update(JSON.stringify([name, statement(target), statement(select)]))
  }
  return hash.digest('hex')
}
