/** The tables that a load stages its results in. Only the load itself reads them. */
import type { Connection } from '../../../../clickhouse/connection.js'
import {
  identifier,
  join,
  numberedName,
  sql,
  statement,
  type Sql,
} from '../../../../clickhouse/sql.js'
import { matchNames, type TableNames } from '../../../../clickhouse/temporary-tables.js'
import { ATTRIBUTES } from '../../../../model/fact-columns.js'

/**
 * The suffix of each table's name; the step that creates a table documents its columns.
 *
 * The names and columns of these tables stay as they are, except for those that `addMissingColumns` adds: a load that an earlier release staged is published by this one. It cannot be staged again, because part of it may be published
 * already.
 */
const SUFFIXES = {
  rows: 'rows',
  places: 'places',
  excludedEvents: 'untracked',
  nights: 'nights',
  kept: 'kept',
  users: 'users',
  unnumbered: 'full',
  nearbySessions: 'near',
  runs: 'items',
  sessions: 'sessions',
  previousStates: 'past',
  movedEvents: 'moved',
  staleRollupUsers: 'lost',
  restoredSessions: 'restored',
} as const

/**
 * The settings of tables that a staged load is published from. The log says that the load is staged, so they must be there
 * after a power failure, too. The columns of a part share a file, because each file costs an fsync.
 */
export const DURABLE = sql`
SETTINGS
  fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 1000000000000, min_rows_for_wide_part = 1000000000000`

export type LoadTables = Readonly<Record<keyof typeof SUFFIXES, Sql>>

/** Matches the names of the tables of a load, or of the dry run, with a prefix. The prefix is a regular expression. */
export const matchLoadTables = (prefix: string, others: readonly string[] = []): TableNames =>
  matchNames(prefix, [...Object.values(SUFFIXES), ...others])

/** The names of the tables of all loads. */
export const LOAD_TABLES = matchLoadTables('load_[0-9]+_')

/**
 * Names the tables of a load. The names contain its number: a loader that pauses until its lease expires finds that its
 * tables no longer exist, and never touches those of the next load.
 */
export const nameLoadTables = (load: number): LoadTables => ({
  ...nameTables(`load_${load}_`),
  // ATTACH PARTITION does not accept a query parameter as the name of its source.
  restoredSessions: numberedName('load', load, SUFFIXES.restoredSessions),
})

/** Names the tables that start with `prefix`. */
export const nameTables = (prefix: string): LoadTables =>
  Object.fromEntries(
    Object.entries(SUFFIXES).map(([table, suffix]) => [table, identifier(`${prefix}${suffix}`)]),
  ) as unknown as LoadTables

/** Drops tables at once, with SYNC: they hold IP addresses, which are never stored. */
export async function dropLoadTables(
  writer: Connection,
  tables: Partial<LoadTables>,
): Promise<void> {
  const names = join(Object.values(tables))
  await writer.execute(statement(sql`DROP TABLE IF EXISTS ${names} SYNC`))
}

/** Attributes are texts. Publishing converts them to the types of the published tables. */
const addTexts = (columns: readonly Sql[]): Sql =>
  join(columns.map((column) => sql`ADD COLUMN IF NOT EXISTS ${column} String`))

/**
 * Adds the columns that an earlier build did not know to the tables of a load that it has staged. Session attributes are empty:
 * that build did not read them from the events. So is the day on which a row was received. May be repeated.
 */
export async function addMissingColumns(
  writer: Connection,
  { rows, sessions, previousStates, movedEvents }: LoadTables,
): Promise<void> {
  const newAttributes = ATTRIBUTES.map((column) => sql`new_${column}`)
  const changes = [
    sql`
${rows}
  ADD COLUMN IF NOT EXISTS received_on Date,
  ADD COLUMN IF NOT EXISTS rejection String DEFAULT if(fate = 'rejected', 'other', '')`,
    sql`${sessions} ${addTexts(ATTRIBUTES)}`,
    sql`${previousStates} ${addTexts([...ATTRIBUTES, ...newAttributes])}`,
    sql`${movedEvents} ${addTexts(ATTRIBUTES)}`,
  ]
  for (const change of changes) await writer.execute(statement(sql`ALTER TABLE ${change}`))
}
