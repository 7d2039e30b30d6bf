/** Makes and drops the views that fill the rollups, and says what they are. */
import { createHash } from 'node:crypto'
import type { Connection } from '../clickhouse/connection.js'
import { dropTables } from '../clickhouse/drop-tables.js'
import { identifier, sql, statement, type Sql } from '../clickhouse/sql.js'
import { LIVE, type RollupTables } from '../model/rollup-tables.js'
import { defineViews, type View } from './view-definitions.js'

const prefixOf = ({ prefix }: RollupTables): string => `${prefix}feed_`
const nameOf = ({ name }: View, tables: RollupTables): Sql =>
  identifier(`${prefixOf(tables)}${name}`)

/** Makes the views between some tables. */
export async function createViews(connection: Connection, tables: RollupTables): Promise<void> {
  for (const view of defineViews(tables)) {
    await connection.execute(
      statement(
        sql`CREATE MATERIALIZED VIEW ${nameOf(view, tables)} TO ${view.target} AS ${view.select}`,
      ),
    )
  }
}

/** Drops the views between some tables, also those of another definition. */
export const dropViews = (connection: Connection, tables: RollupTables): Promise<void> =>
  dropTables(connection, prefixOf(tables))

/** Tells one definition of the rollups from another: a hash of all their views. */
export function hashDefinitions(): string {
  const hash = createHash('sha256')
  for (const { name, target, select } of defineViews(LIVE)) {
    hash.update(JSON.stringify([name, statement(target), statement(select)]))
  }
  return hash.digest('hex')
}
