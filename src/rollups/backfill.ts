/** Computes the rollups of some facts into tables that it creates. */
import type { Connection, Settings } from '../clickhouse/connection.js'
import { isClickHouseError } from '../clickhouse/errors.js'
import { join, sql, statement, type Sql } from '../clickhouse/sql.js'
import { CHANGE_COLUMNS, COUNTED_ATTRIBUTES } from '../model/fact-columns.js'
import { LIVE, type RollupTables } from '../model/rollup-table-sets.js'
import { ROLLUP_NAMES } from '../model/rollups.js'
import { createViews, dropTableSets } from './materialized-views.js'

/** The facts to read: a condition on the rows of each table. */
export interface FactFilter {
  readonly events: Sql
  readonly sessions: Sql
}

/**
 * The rows that are added up before they are written, so that they need no merge. Rows with many properties may need more
 * memory than there is; then fewer are tried.
 */
const BLOCK_ROWS = [2_000_000, 65_536, 4_096, 512]

const limitBlocks = (rows: number): Settings => ({
  insert_deduplicate: 0,
  min_insert_block_size_rows: String(rows),
  min_insert_block_size_bytes: '0',
  max_block_size: String(Math.min(rows, 65_536)),
  max_partitions_per_insert_block: '0',
})

const COLUMNS = join([...CHANGE_COLUMNS, ...COUNTED_ATTRIBUTES.map(({ column }) => column)])

/**
 * Creates the tables and the views between them, and inserts the facts. The caller holds the loader lease, so that
 * the facts do not change in the meantime.
 */
export async function backfillRollups(
  writer: Connection,
  tables: RollupTables,
  facts: FactFilter,
): Promise<void> {
  for (const rows of BLOCK_ROWS) {
    await createTables(writer, tables)
    try {
      await insertFacts(writer, tables, facts, limitBlocks(rows))
      return
    } catch (error) {
      const isLast = rows === BLOCK_ROWS.at(-1)
      if (isLast || !isClickHouseError(error, 'MEMORY_LIMIT_EXCEEDED')) throw error
      await dropTableSets(writer, tables.prefix)
    }
  }
}

async function insertFacts(
  writer: Connection,
  tables: RollupTables,
  facts: FactFilter,
  settings: Settings,
): Promise<void> {
  await writer.execute(
    statement(sql`
INSERT INTO ${tables.eventChanges} (session, sign, ${COLUMNS})
SELECT session, 1, ${COLUMNS} FROM events WHERE ${facts.events}`),
    settings,
  )
  await writer.execute(
    statement(sql`INSERT INTO ${tables.sessions} SELECT * FROM sessions WHERE ${facts.sessions}`),
    settings,
  )
}

async function createTables(writer: Connection, tables: RollupTables): Promise<void> {
  const copies: readonly (readonly [copy: Sql, live: Sql])[] = [
    [tables.eventChanges, LIVE.eventChanges],
    [tables.rollupChanges, LIVE.rollupChanges],
    ...ROLLUP_NAMES.map((name) => [tables.rollups[name], LIVE.rollups[name]] as const),
  ]
  for (const [copy, live] of copies) {
    await writer.execute(statement(sql`CREATE TABLE ${copy} AS ${live}`))
  }
  // The live table stores sessions and feeds the views. This one only feeds them.
  await writer.execute(
    statement(sql`CREATE TABLE ${tables.sessions} AS ${LIVE.sessions} ENGINE = Null`),
  )
  await createViews(writer, tables)
}
