/** Stages a Parquet or Arrow file: ClickHouse reads it into a table, from which the rows are streamed. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Connection, Settings } from '../../../../clickhouse/connection.js'
import { identifier, sql, statement, string, uint64, type Sql } from '../../../../clickhouse/sql.js'
import {
  dropAbandonedTables,
  matchNames,
  renewTables,
  UNIQUE_PART,
} from '../../../../clickhouse/temporary-tables.js'
import type { ColumnBinding } from '../mapping.js'
import type { Column, FileDescription } from './columns.js'
import { buildLineSql } from './line.js'
import type { ColumnarOptions } from './value.js'

export interface Staging extends FileDescription {
  readonly columns: readonly Column[]
  readonly bindings: readonly ColumnBinding[]
  readonly reading: ColumnarOptions
}

interface Listeners {
  /** Called with the number of rows, before the first of them is read. */
  readonly onTotal: (rows: number) => void
  /** Called with an error of reading the file; throws it, or another error in its place. */
  readonly onError: (error: unknown) => never
}

/** The prefix of all staging tables. Abandoned tables are found by it, so it must not change. */
const TABLE_PREFIX = 'staged_'
/** All staging tables. */
export const STAGING_TABLES = matchNames(TABLE_PREFIX, [UNIQUE_PART])

/** Rows read from the table at once. */
const PAGE_ROWS = 20_000

/** With one thread, ClickHouse reads one block after another, in the order of the file. */
const IN_ORDER: Settings = {
  max_threads: 1,
  max_insert_threads: '1',
  input_format_parallel_parsing: 0,
  input_format_parquet_preserve_order: 1,
  output_format_json_escape_forward_slashes: 0,
  formatdatetime_f_prints_scale_number_of_digits: 1,
}

/** Yields one line per row. Drops the table at the end, even if reading fails or stops early. */
export async function* readStagedRows(
  writer: Connection,
  staging: Staging,
  { onTotal, onError }: Listeners,
): AsyncGenerator<Buffer> {
  await dropAbandonedTables(writer, STAGING_TABLES)
  const unique = randomUUID().replaceAll('-', '')
  const table = identifier(`${TABLE_PREFIX}${unique}`)
  const endRenewal = renewTables(writer, matchNames(TABLE_PREFIX, [unique]))
  try {
    await writer.execute(
      statement(
        sql`CREATE TABLE ${table} (place UInt64, line String) ENGINE = MergeTree ORDER BY place`,
      ),
    )
    await fillTable(writer, table, staging).catch(onError)
    const total = await countRows(writer, table)
    onTotal(total)
    for (let from = 0; from < total; from += PAGE_ROWS) yield await readPage(writer, table, from)
  } finally {
    endRenewal()
    await writer.execute(statement(sql`DROP TABLE IF EXISTS ${table} SYNC`))
  }
}

async function fillTable(writer: Connection, table: Sql, staging: Staging): Promise<void> {
  const { columns, bindings, format, stream, reading } = staging
  // Column names may be any text, so the SQL addresses columns by their position.
  const boundColumns = bindings
    .map(({ index }) => columns[index])
    .filter((column) => column !== undefined)
  const distinct = [...new Set(boundColumns)]
  const line = buildLineSql(
    bindings.map(({ target, column }) => {
      const index = distinct.findIndex(({ name }) => name === column)
      return {
        target,
        type: distinct[index]?.type ?? '',
        value: sql`tupleElement(cells, ${uint64(index + 1)})`,
      }
    }),
    reading,
  )
  await writer.upload(
    statement(sql`
INSERT INTO ${table}
SELECT rowNumberInAllBlocks(), ${line}
FROM (SELECT tuple(*) AS cells FROM input(${string(formatStructure(distinct))}))
FORMAT ${format}`),
    Readable.from(stream, { objectMode: false }),
    IN_ORDER,
  )
}

/** Formats the structure argument of `input()`: quoted names, each with its type. */
const formatStructure = (columns: readonly Column[]): string =>
  columns.map(({ name, type }) => `\`${name.replace(/[\\`]/g, '\\$&')}\` ${type}`).join(', ')

async function countRows(writer: Connection, table: Sql): Promise<number> {
  const { rows } = await writer.query<{ total: number }>(
    statement(sql`SELECT count() AS total FROM ${table}`),
  )
  return rows[0]?.total ?? 0
}

async function readPage(writer: Connection, table: Sql, from: number): Promise<Buffer> {
  const { rows } = await writer.query<{ line: string }>(
    statement(sql`
SELECT line FROM ${table}
WHERE place >= ${uint64(from)} AND place < ${uint64(from + PAGE_ROWS)} ORDER BY place`),
  )
  return Buffer.from(rows.map(({ line }) => `${line}\n`).join(''))
}
