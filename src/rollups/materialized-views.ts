/** Creates and drops the materialized views that fill the rollups, and hashes their definitions. */
import { createHash } from 'node:crypto'
import type { Connection } from '../clickhouse/connection.js'
import { dropTables } from '../clickhouse/drop-tables.js'
import { identifier, sql, statement } from '../clickhouse/sql.js'
import { LIVE, type RollupTables } from '../model/rollup-tables.js'
import { defineViews } from './view-definitions.js'

const viewPrefix = ({ prefix }: RollupTables): string => `${prefix}feed_`

/** Creates the views between some tables. */
export async function createViews(connection: Connection, tables: RollupTables): Promise<void> {
  for (const { name, target, select } of defineViews(tables)) {
    const view = identifier(`${viewPrefix(tables)}${name}`)
    await connection.execute(
      statement(sql`CREATE MATERIALIZED VIEW ${view} TO ${target} AS ${select}`),
    )
  }
}

/** Drops the views between some tables, including those of another definition. */
export const dropViews = (connection: Connection, tables: RollupTables): Promise<void> =>
  dropTables(connection, viewPrefix(tables))

/** The SHA-256 of all views as this build defines them. Another hash means that the rollups must be built again. */
export function hashDefinitions(): string {
  const hash = createHash('sha256')
  for (const { name, target, select } of defineViews(LIVE)) {
    hash.update(JSON.stringify([name, statement(target), statement(select)]))
  }
  return hash.digest('hex')
}
