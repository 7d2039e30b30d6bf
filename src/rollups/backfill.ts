/** Computes the rollups of some facts into tables that it creates. */
import type { Connection, Settings } from '../clickhouse/connection.js'
import { createLike } from '../clickhouse/replicas/create-like.js'
import { isClickHouseError } from '../clickhouse/errors.js'
import { and, join, sql, statement, TRUE, uint32, type Sql } from '../clickhouse/sql.js'
import { settleAll } from '../lib/settle.js'
import { CHANGE_COLUMNS, COUNTED_COLUMNS } from '../model/fact-columns.js'
import { LIVE, type Facts, type RollupTables } from '../model/rollup-table-sets.js'
import { ROLLUP_NAMES } from '../model/rollups.js'
import { createViews, dropTableSets } from './materialized-views.js'

/** The facts to read: a condition on the rows of each table. */
interface FactFilter {
  readonly events: Sql
  readonly sessions: Sql
  /** The tables to read; the live ones by default. */
  readonly tables?: Facts
  /** About how many rows that are; few by default. */
  readonly rows?: number
}

/**
 * How many rows are added up before they are written, and by how many threads at once. Larger blocks need fewer merges,
 * but leave the caches of the processor. A thread takes about 140 MB for 32,768 common events. Events with many
 * properties may need more memory than there is; then fewer are tried.
 */
const BLOCKS = [
  { rows: 32_768, threads: 4 },
  { rows: 4_096, threads: 1 },
  { rows: 512, threads: 1 },
] as const satisfies readonly Blocks[]

interface Blocks {
  readonly rows: number
  readonly threads: number
}

/** Settings of the inserts. The threads are no more than ClickHouse uses for a query: by default, its cores. */
export const limitBlocks = ({ rows, threads }: Blocks): Settings => ({
  // Without tokens the blocks may be written in any order, so threads may share the work.
  insert_deduplicate: 0,
  max_insert_threads: String(threads),
  min_insert_block_size_rows: String(rows),
  min_insert_block_size_bytes: '0',
  max_block_size: String(rows),
  max_partitions_per_insert_block: '0',
})

/** A statement adds up about this many events at most, which takes a minute or two. */
const MAX_STATEMENT_ROWS = 20_000_000

const COLUMNS = join([...CHANGE_COLUMNS, ...COUNTED_COLUMNS])

/**
 * Creates the tables and the views between them, and inserts the facts. The facts must not change in the meantime:
 * the caller holds the loader lease, or reads a copy of them.
 */
export async function backfillRollups(
  writer: Connection,
  tables: RollupTables,
  facts: FactFilter,
): Promise<void> {
  for (const blocks of BLOCKS) {
    await createTables(writer, tables)
    try {
      await insertFacts(writer, tables, facts, limitBlocks(blocks))
      return
    } catch (error) {
      const isLast = blocks === BLOCKS.at(-1)
      if (isLast || !isClickHouseError(error, 'MEMORY_LIMIT_EXCEEDED')) throw error
      await dropTableSets(writer, tables.prefix)
    }
  }
}

const LIVE_FACTS: Facts = { events: sql`events`, sessions: LIVE.sessions }

async function insertFacts(
  writer: Connection,
  tables: RollupTables,
  facts: FactFilter,
  settings: Settings,
): Promise<void> {
  const { tables: read = LIVE_FACTS, rows = 0 } = facts
  const slices = Math.ceil(rows / MAX_STATEMENT_ROWS)
  for (let slice = 0; slice < Math.max(slices, 1); slice++) {
    const isInSlice = (time: Sql): Sql =>
      slices > 1 ? sql`toDayOfMonth(${time}) % ${uint32(slices)} = ${uint32(slice)}` : TRUE
    await writer.execute(
      statement(sql`
INSERT INTO ${tables.eventChanges} (session, sign, ${COLUMNS})
SELECT session, 1, ${COLUMNS} FROM ${read.events} WHERE ${and([facts.events, isInSlice(sql`timestamp`)])}`),
      settings,
    )
    await writer.execute(
      statement(sql`
INSERT INTO ${tables.sessions}
SELECT * FROM ${read.sessions} WHERE ${and([facts.sessions, isInSlice(sql`start_at`)])}`),
      settings,
    )
  }
}

async function createTables(writer: Connection, tables: RollupTables): Promise<void> {
  const copies: readonly (readonly [copy: Sql, live: Sql])[] = [
    [tables.eventChanges, LIVE.eventChanges],
    [tables.rollupChanges, LIVE.rollupChanges],
    ...ROLLUP_NAMES.map((name) => [tables.rollups[name], LIVE.rollups[name]] as const),
  ]
  await settleAll([
    ...copies.map(([copy, live]) => createLike(writer, copy, live)),
    // The live table stores sessions and feeds the views. This one only feeds them.
    writer.execute(
      statement(sql`CREATE TABLE ${tables.sessions} AS ${LIVE.sessions} ENGINE = Null`),
    ),
  ])
  await createViews(writer, tables)
}
