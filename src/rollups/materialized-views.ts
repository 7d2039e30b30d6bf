/** Creates and drops the materialized views that fill the rollups, and hashes their definitions. */
import { createHash } from 'node:crypto'
import type { Connection } from '../clickhouse/connection.js'
import { dropTables } from '../clickhouse/drop-tables.js'
import { identifier, sql, statement } from '../clickhouse/sql.js'
import { LIVE, type RollupTables } from '../model/rollup-table-sets.js'
import { defineViews } from './view-definitions.js'

const getViewPrefix = ({ prefix }: RollupTables): string => `${prefix}feed_`

/** Creates the views between the tables. */
export async function createViews(connection: Connection, tables: RollupTables): Promise<void> {
  for (const { name, target, select } of defineViews(tables)) {
    const view = identifier(`${getViewPrefix(tables)}${name}`)
    await connection.execute(
      statement(sql`CREATE MATERIALIZED VIEW ${view} TO ${target} AS ${select}`),
    )
  }
}

/** Drops the views between the tables, including those of another definition. */
export const dropViews = (connection: Connection, tables: RollupTables): Promise<void> =>
  dropTables(connection, getViewPrefix(tables))

/** Hashes this build's view definitions: SHA-256 in hexadecimal. A store with another hash must rebuild its rollups. */
export function hashDefinitions(): string {
  const hash = createHash('sha256')
  for (const { name, target, select } of defineViews(LIVE)) {
    hash.update(JSON.stringify([name, statement(target), statement(select)]))
  }
  return hash.digest('hex')
}
