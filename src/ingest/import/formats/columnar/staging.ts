/** Has ClickHouse read a Parquet or Arrow file into a table of its own, and streams the rows out of it. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Connection, Settings } from '../../../../clickhouse/connection.js'
import { dropAbandonedTables } from '../../../../clickhouse/drop-tables.js'
import { identifier, sql, statement, string, uint64, type Sql } from '../../../../clickhouse/sql.js'
import type { Taken } from '../mapping.js'
import type { Column, Description } from './columns.js'
import { lineOf } from './line.js'

export interface Staging extends Description {
  readonly columns: readonly Column[]
  readonly taken: readonly Taken[]
  /** Whether the file has other names than ours. */
  readonly isForeign: boolean
}

interface Listeners {
  readonly onTotal: (rows: number) => void
  /** Is given what went wrong as the file was read; throws it, or what is to be thrown instead. */
  readonly onFault: (error: unknown) => never
}

const STAGED = 'staged_'

/** Rows that are read out of the table at once. */
const PAGE = 20_000

/** One thread reads one block after another, in the order of the file. */
const IN_ORDER: Settings = {
  max_threads: 1,
  max_insert_threads: '1',
  input_format_parallel_parsing: 0,
  input_format_parquet_preserve_order: 1,
  output_format_json_escape_forward_slashes: 0,
  formatdatetime_f_prints_scale_number_of_digits: 1,
}

/** One line a row. The table is dropped in the end, however it ends. */
export async function* stagedRows(
  writer: Connection,
  staging: Staging,
  { onTotal, onFault }: Listeners,
): AsyncGenerator<Buffer> {
  await dropAbandonedTables(writer, STAGED)
  const table = identifier(`${STAGED}${randomUUID().replaceAll('-', '')}`)
  try {
    await writer.execute(
      statement(
        sql`CREATE TABLE ${table} (place UInt64, line String) ENGINE = MergeTree ORDER BY place`,
      ),
    )
    await fill(writer, table, staging).catch(onFault)
    const total = await countRows(writer, table)
    onTotal(total)
    for (let from = 0; from < total; from += PAGE) yield await readPage(writer, table, from)
  } finally {
    await writer.execute(statement(sql`DROP TABLE IF EXISTS ${table} SYNC`))
  }
}

async function fill(writer: Connection, table: Sql, staging: Staging): Promise<void> {
  const { columns, taken, format, stream, isForeign } = staging
  // A file may name its columns as it likes: they are taken by their place.
  const read = taken.map(({ place }) => columns[place]).filter((column) => column !== undefined)
  const distinct = [...new Set(read)]
  const line = lineOf(
    taken.map(({ target, column }) => {
      const place = distinct.findIndex(({ name }) => name === column)
      return {
        target,
        type: distinct[place]?.type ?? '',
        value: sql`tupleElement(cells, ${uint64(place + 1)})`,
      }
    }),
    isForeign,
  )
  await writer.upload(
    statement(sql`
INSERT INTO ${table}
SELECT rowNumberInAllBlocks(), ${line}
FROM (SELECT tuple(*) AS cells FROM input(${string(structureOf(distinct))}))
FORMAT ${format}`),
    Readable.from(stream, { objectMode: false }),
    IN_ORDER,
  )
}

/** As ClickHouse reads it: names in quotes, each with its type. */
const structureOf = (columns: readonly Column[]): string =>
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
WHERE place >= ${uint64(from)} AND place < ${uint64(from + PAGE)} ORDER BY place`),
  )
  return Buffer.from(rows.map(({ line }) => `${line}\n`).join(''))
}
