/**
 * Drops temporary tables, and builds statements that delete rows by their values. Only the whole name of a table makes it
 * temporary: other applications may have tables in the same database, whose names begin with the same word.
 */
import { MINUTE_MS } from '../lib/time.js'
import type { Connection, Settings } from './connection.js'
import { identifier, join, sql, statement, string, TRUE, uint32, type Sql } from './sql.js'

/** Matches the names of one kind of temporary tables, from the first character to the last. */
export interface TableNames {
  /** A regular expression of ClickHouse, with both anchors. */
  readonly pattern: string
}

/**
 * Builds the matcher of the names that consist of a prefix and one of the suffixes.
 *
 * @param prefix a regular expression, such as `load_[0-9]+_`
 * @param suffixes regular expressions, mostly the names themselves
 */
export const matchNames = (prefix: string, suffixes: readonly string[]): TableNames => ({
  pattern: `^${prefix}(${suffixes.join('|')})$`,
})

/** The random part of the name of a temporary table: a UUID without its dashes. */
export const UNIQUE_PART = '[0-9a-f]{32}'

/**
 * Drops all tables of the database with these names.
 *
 * @param waits whether to wait for statements that still use them, and until their files are deleted
 */
export async function dropTables(
  writer: Connection,
  names: TableNames,
  waits = true,
): Promise<void> {
  await drop(writer, await listTables(writer, names), waits)
}

/**
 * Builds the condition that a row of `system.tables` is a materialized view with one of these names that writes into a
 * table with one of the names `targets`.
 */
export const isView = (views: TableNames, targets: TableNames): Sql => sql`
  database = currentDatabase() AND engine = 'MaterializedView' AND match(name, ${string(views.pattern)})
  AND match(extract(create_table_query, ' TO [^ .]+[.]([^ ]+) '), ${string(targets.pattern)})`

/**
 * Drops the materialized views with these names that write into tables with the names `targets`.
 *
 * @param views matches the names of the views
 * @param targets matches the names of the tables that they write into
 * @param waits whether to wait for statements that still use them
 */
export async function dropViews(
  writer: Connection,
  views: TableNames,
  targets: TableNames,
  waits = true,
): Promise<void> {
  const { rows } = await writer.query<{ name: string }>(
    statement(sql`SELECT name FROM system.tables WHERE ${isView(views, targets)}`),
  )
  await drop(
    writer,
    rows.map(({ name }) => name),
    waits,
  )
}

/** How often the process that uses a table gives a sign of life. */
const RENEW_INTERVAL_MS = 10 * MINUTE_MS

/** Drops the tables with these names whose process has given no sign of life for a day: it was killed. */
export async function dropAbandonedTables(writer: Connection, names: TableNames): Promise<void> {
  const isAbandoned = sql`metadata_modification_time < now() - INTERVAL 1 DAY`
  await drop(writer, await listTables(writer, names, isAbandoned))
}

/**
 * Renews the tables with these names until the returned function is called, so that no other process takes them for
 * abandoned. Each new comment writes the metadata of a table again, and with it the time from which its age is computed.
 */
export function renewTables(writer: Connection, names: TableNames): () => void {
  const renew = async (): Promise<void> => {
    for (const name of await listTables(writer, names)) {
      await writer.execute(statement(sql`ALTER TABLE ${identifier(name)} MODIFY COMMENT 'in use'`))
    }
  }
  // A renewal that fails is repeated long before the tables count as abandoned.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/** A temporary table that exists. */
export interface TemporaryTable {
  readonly name: string
  /** Milliseconds since it was created or renewed. */
  readonly age: number
}

/** Lists the tables with one of these names, whether or not a process uses them. */
export async function listTemporaryTables(
  connection: Connection,
  names: readonly TableNames[],
): Promise<readonly TemporaryTable[]> {
  const pattern = names.map((one) => one.pattern).join('|')
  const { rows } = await connection.query<TemporaryTable>(
    statement(sql`
SELECT name, dateDiff('millisecond', metadata_modification_time, now64(3)) AS age FROM system.tables
WHERE database = currentDatabase() AND engine NOT LIKE '%View' AND match(name, ${string(pattern)})
ORDER BY name`),
  )
  return rows
}

async function listTables(
  writer: Connection,
  { pattern }: TableNames,
  isMeant = TRUE,
): Promise<readonly string[]> {
  const { rows } = await writer.query<{ name: string }>(
    statement(sql`
SELECT name FROM system.tables
WHERE database = currentDatabase() AND engine NOT LIKE '%View' AND match(name, ${string(pattern)}) AND ${isMeant}
ORDER BY name`),
  )
  return rows.map(({ name }) => name)
}

/** Drops tables at once, with SYNC, unless told not to wait: some hold IP addresses, which are never stored. */
async function drop(writer: Connection, names: readonly string[], waits = true): Promise<void> {
  if (names.length === 0) return
  const tables = join(names.map((name) => identifier(name)))
  await writer.execute(statement(sql`DROP TABLE IF EXISTS ${tables}${waits ? sql` SYNC` : sql``}`))
}

/**
 * The settings of a DELETE with values of temporary tables: scalar subqueries are replaced by their values. ClickHouse keeps the
 * text of a mutation, and applies it again to parts that come back with a restart, so it must not name a table that is dropped
 * by then.
 */
export const INLINED: Settings = {
  mutations_execute_subqueries_on_initiator: 1,
  mutations_max_literal_size_to_replace: '1000000000',
}

/** Rows of one partition of a table. */
interface PartitionRows {
  readonly partition: number
  /** Whether a row of the partition is one of them. */
  readonly isOne: Sql
}

/**
 * Builds the statement that does what a DELETE … IN PARTITION for each of the partitions would do. One mutation costs a new
 * version of every part of the table, whatever it deletes, and mutates the partitions on all cores. Several would cost that
 * each, and ClickHouse may skip one of those that begin at the same moment.
 */
export const deleteFromPartitions = (table: Sql, rows: readonly PartitionRows[]): Sql =>
  sql`ALTER TABLE ${table} ${join(
    rows.map(
      ({ partition, isOne }) =>
        sql`UPDATE _row_exists = 0 IN PARTITION ${uint32(partition)} WHERE ${isOne}`,
    ),
  )}`

/**
 * Returns whether a column of integers has one of some values.
 *
 * @param value the expression that gives each value, in the query `from`, a FROM clause with its conditions
 */
export const isOneOf = (column: Sql, value: Sql, from: Sql): Sql => sql`
bitmapContains(
  CAST(unhex((SELECT hex(groupBitmapState(toUInt64(${value}))) ${from})), 'AggregateFunction(groupBitmap, UInt64)'),
  toUInt64(${column}))`

/** Builds the right side of an IN from texts without commas. The parameters are those of `isOneOf`. */
export const inlineTexts = (value: Sql, from: Sql): Sql => sql`
splitByChar(',', (SELECT arrayStringConcat(groupUniqArray(toString(${value})), ',') ${from}))`

/** Builds the right side of an IN from values of type UInt128, at least one. The parameters are those of `isOneOf`. */
export const inlineHashes = (value: Sql, from: Sql): Sql =>
  sql`CAST(${inlineTexts(value, from)}, 'Array(UInt128)')`
