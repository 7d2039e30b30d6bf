/** Computes the rollups of some facts into tables of their own. */
import type { Connection } from '../clickhouse/connection.js'
import { join, sql, statement, type Sql } from '../clickhouse/sql.js'
import { CHANGE_COLUMNS, COUNTED_ATTRIBUTES } from '../model/fact-columns.js'
import { createViews } from './materialized-views.js'
import { LIVE, ROLLUP_NAMES, type RollupTables } from '../model/rollup-tables.js'

/** Which facts: what their rows satisfy. */
export interface FactsOf {
  readonly events: Sql
  readonly sessions: Sql
}

/** Large blocks: what is added up before it is written need not be merged. */
const LARGE_BLOCKS = {
  insert_deduplicate: 0,
  min_insert_block_size_rows: '2000000',
  min_insert_block_size_bytes: '0',
  max_block_size: '65536',
  max_partitions_per_insert_block: '0',
} as const

const COLUMNS = join([...CHANGE_COLUMNS, ...COUNTED_ATTRIBUTES.map(({ column }) => column)])

/**
 * Makes the tables, and the views between them, and fills them. The caller holds the lease of the loader,
 * so that facts stand still.
 */
export async function backfillRollups(
  writer: Connection,
  tables: RollupTables,
  factsOf: FactsOf,
): Promise<void> {
  await create(writer, tables)
  await writer.execute(
    statement(sql`
INSERT INTO ${tables.eventChanges} (session, sign, ${COLUMNS})
SELECT session, 1, ${COLUMNS} FROM events WHERE ${factsOf.events}`),
    LARGE_BLOCKS,
  )
  await writer.execute(
    statement(sql`INSERT INTO ${tables.sessions} SELECT * FROM sessions WHERE ${factsOf.sessions}`),
    LARGE_BLOCKS,
  )
}

async function create(writer: Connection, tables: RollupTables): Promise<void> {
  const copies: readonly (readonly [Sql, Sql])[] = [
    [tables.eventChanges, LIVE.eventChanges],
    [tables.rollupChanges, LIVE.rollupChanges],
    ...ROLLUP_NAMES.map((name) => [tables.rollups[name], LIVE.rollups[name]] as const),
  ]
  for (const [copy, live] of copies) {
    await writer.execute(statement(sql`CREATE TABLE ${copy} AS ${live}`))
  }
  // Facts are read from the table itself; its copy is a way in that keeps nothing.
  await writer.execute(
    statement(sql`CREATE TABLE ${tables.sessions} AS ${LIVE.sessions} ENGINE = Null`),
  )
  await createViews(writer, tables)
}
