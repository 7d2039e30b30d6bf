/** Reads tables with other programs than those that write them: DuckDB reads CSV and Parquet, and apache-arrow reads Arrow. */
import { tableFromIPC } from 'apache-arrow'
import { DuckDBInstance } from '@duckdb/node-api'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { TableFormat } from '../../../src/contract/response-formats.js'

export type ReadRow = Readonly<Record<string, unknown>>

export interface ReadTable {
  /** The names of the columns. A table of NDJSON without rows has none. */
  readonly names: readonly string[]
  /** Numbers of all types are numbers, or texts in CSV; moments are texts of ISO 8601. */
  readonly rows: readonly ReadRow[]
  /** The metadata of the schema, in the formats that have some. */
  readonly metadata: Readonly<Record<string, string>>
}

/** Reads the bytes of a table. @throws if they are not complete, in the formats that have an end */
export const readTable = (format: TableFormat, bytes: Uint8Array): Promise<ReadTable> =>
  READERS[format](bytes)

const READERS: Readonly<Record<TableFormat, (bytes: Uint8Array) => Promise<ReadTable>>> = {
  csv: (bytes) =>
    withFile(bytes, async (file, ask) => {
      const source = `read_csv('${file}', header = true, delim = ',', quote = '"', escape = '"', all_varchar = true, nullstr = '', allow_quoted_nulls = false, new_line = '\\r\\n')`
      return {
        names: await readNames(ask, source),
        rows: await ask(`FROM ${source}`),
        metadata: {},
      }
    }),
  parquet: (bytes) =>
    withFile(bytes, async (file, ask) => {
      const pairs = await ask(
        `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata('${file}')`,
      )
      const source = `read_parquet('${file}')`
      return {
        names: await readNames(ask, source),
        rows: await ask(`FROM ${source}`),
        metadata: Object.fromEntries(pairs.map(({ key, value }) => [String(key), String(value)])),
      }
    }),
  ndjson: (bytes) => {
    const lines = Buffer.from(bytes).toString().split('\n')
    if (lines.pop() !== '') throw new Error('the last line has no end')
    const rows = lines.map((line) => JSON.parse(line) as ReadRow)
    return Promise.resolve({ names: Object.keys(rows[0] ?? {}), rows, metadata: {} })
  },
  arrow: (bytes) => {
    // An ended stream says so in its last bytes.
    if (!Buffer.from(bytes).subarray(-8).equals(Buffer.from('ffffffff00000000', 'hex'))) {
      throw new Error('the stream has no end')
    }
    const table = tableFromIPC(bytes)
    const names = table.schema.fields.map(({ name }) => name)
    const isMoment = table.schema.fields.map(({ type }) => String(type).startsWith('Timestamp'))
    const rows = table.toArray().map((row: ReadRow) =>
      Object.fromEntries(
        names.map((name, i) => {
          const value = row[name]
          return [name, isMoment[i] && value !== null ? new Date(Number(value)) : value]
        }),
      ),
    )
    const metadata = Object.fromEntries(table.schema.metadata)
    return Promise.resolve({ names, rows: rows.map(toPlain), metadata })
  },
}

type Ask = (text: string) => Promise<readonly ReadRow[]>

async function readNames(ask: Ask, source: string): Promise<readonly string[]> {
  return (await ask(`DESCRIBE FROM ${source}`)).map(({ column_name: name }) => String(name))
}

/** Calls `work` with a file that has these bytes, and a DuckDB. */
async function withFile<Result>(
  bytes: Uint8Array,
  work: (file: string, ask: Ask) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-table-'))
  const file = path.join(folder, 'table')
  await writeFile(file, bytes)
  const instance = await (duck ??= DuckDBInstance.create(':memory:', {
    threads: '1',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  }))
  const connection = await instance.connect()
  try {
    return await work(file, async (text) =>
      (await connection.runAndReadAll(text)).getRowObjectsJS().map(toPlain),
    )
  } finally {
    connection.closeSync()
    await rm(folder, { recursive: true })
  }
}
let duck: Promise<DuckDBInstance> | undefined

const toPlain = (row: Readonly<Record<string, unknown>>): ReadRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'bigint'
        ? Number(value)
        : Object.prototype.toString.call(value) === '[object Date]'
          ? (value as Date).toISOString()
          : value,
    ]),
  )
