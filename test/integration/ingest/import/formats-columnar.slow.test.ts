/** Parquet and Arrow, written by the engine, are converted to lines of NDJSON. */
import { describe, expect, test } from '@jest/globals'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { connect, type Connection } from '../../../../src/clickhouse/connection.js'
import { sql } from '../../../../src/clickhouse/sql.js'
import { openRows, type OpenOptions } from '../../../../src/ingest/import/open-rows.js'
import { writeFile, type FileFormat } from '../../../support/sources/columnar.js'
import { openDuckDatabase } from '../../../support/duckdb/database.js'
import { raw } from '../../../support/duckdb/sql.js'
import { withDatabase } from '../../../support/store/database.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'
import { select } from '../../../support/store/facts.js'

interface Row {
  readonly timestamp: string
}

const FORMATS: readonly FileFormat[] = ['Parquet', 'Arrow', 'ArrowStream']

const database = withDatabase()

async function* inChunks(bytes: Buffer, size = 1_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    yield await Promise.resolve(bytes.subarray(at, at + size))
  }
}

type Options = Omit<OpenOptions, 'writer'> & { readonly writer?: Connection }

async function read(bytes: Buffer, options: Options = {}) {
  const opened = await openRows(inChunks(bytes), { writer: database.store.writer, ...options })
  const chunks: Buffer[] = []
  for await (const chunk of opened.rows) chunks.push(chunk)
  const lines = Buffer.concat(chunks).toString().split('\n').slice(0, -1)
  return { format: opened.format, total: opened.total(), lines }
}

/** Reads the rows of a file, without absent values. */
async function rowsOf(bytes: Buffer, options: Options = {}): Promise<unknown[]> {
  const { lines } = await read(bytes, options)
  return lines.map(
    (line) =>
      JSON.parse(line, (_, value: unknown) => (value === null ? undefined : value)) as unknown,
  )
}

const staged = (): Promise<readonly object[]> =>
  select(
    database.store,
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'staged_')`,
  )

describe.each(FORMATS)('%s', (format) => {
  test('all rows come in the order of the file', async () => {
    const query = `SELECT toString(number) AS event_id, 'x' AS name FROM numbers(50001)`
    const file = await writeFile(format, query, {
      output_format_parquet_row_group_size: '5000',
      max_block_size: '3000',
      max_threads: '1',
    })
    for (const bytes of [file, gzipSync(file)]) {
      const { format: found, total, lines } = await read(bytes)
      expect([found, total, lines.length]).toEqual([
        format === 'Parquet' ? 'parquet' : 'arrow',
        50_001,
        50_001,
      ])
      const wrong = lines.findIndex((line, i) => line !== `{"event_id":"${i}","name":"x"}`)
      expect([wrong, lines[wrong]]).toEqual([-1, undefined])
    }
    expect(await staged()).toEqual([])
  })

  test('no rows', async () => {
    expect(await read(await writeFile(format, `SELECT 'a' AS name WHERE 0`))).toMatchObject({
      total: 0,
      lines: [],
    })
  })

  const at = '2026-01-31T10:00:00'
  test.each<[string, string, unknown]>([
    ['milliseconds', `toDateTime64('2026-01-31 10:00:00.123', 3, 'UTC')`, `${at}.123Z`],
    ['microseconds', `toDateTime64('2026-01-31 10:00:00.123456', 6, 'UTC')`, `${at}.123Z`],
    ['nanoseconds', `toDateTime64('2026-01-31 10:00:00.123456789', 9, 'UTC')`, `${at}.123Z`],
    ['of a zone', `toDateTime64('2026-01-31 11:00:00', 3, 'Europe/Berlin')`, `${at}.000Z`],
    ['absent', `CAST(NULL AS Nullable(DateTime64(3, 'UTC')))`, undefined],
    ['a date', `toDate32('2026-01-31')`, '2026-01-31T00:00:00.000Z'],
    ['seconds', `1769853600::Int64`, `${at}.000Z`],
    ['seconds of 32 bits', `1769853600::UInt32`, `${at}.000Z`],
    ['seconds with a fraction', `1769853600.25::Float64`, `${at}.250Z`],
    ['milliseconds as a number', `1769853600123::Int64`, `${at}.123Z`],
    ['a number that is far away', `9223372036854775807::Int64`, '9223372036854775807'],
    ['ISO 8601', `'${at}+01:00'`, `${at}+01:00`],
    ['other text', `'31/01/2026'`, '31/01/2026'],
    ['no text', `''`, undefined],
    ['digits', `'1769853600'`, '1769853600'],
    ['a list', `[1]`, [1]],
  ])('timestamp: %s', async (_, value, timestamp) => {
    const file = await writeFile(format, `SELECT ${value} AS timestamp, 'x' AS name`)
    expect(await rowsOf(file)).toEqual([
      timestamp === undefined ? { name: 'x' } : { timestamp, name: 'x' },
    ])
  })

  test.each<[string, string, unknown]>([
    ['text', `'a"\\n/ü'`, 'a"\n/ü'],
    ['no text', `''`, undefined],
    ['absent', `CAST(NULL AS Nullable(String))`, undefined],
    ['a dictionary', `toLowCardinality('a')`, 'a'],
    ['a fixed length', `toFixedString('a', 4)`, 'a'],
    ['an integer', `9223372036854775807::Int64`, '9223372036854775807'],
    ['a fraction', `1.5`, '1.5'],
    ['a moment', `toDateTime64('2026-01-31 10:00:00', 3, 'UTC')`, '2026-01-31T10:00:00.000Z'],
    ['a boolean', `true`, true],
    ['a list', `['a']`, ['a']],
    ['a struct', `tuple(1 AS a)::Tuple(a Int32)`, { a: 1 }],
  ])('a field of text: %s', async (_, value, want) => {
    const file = await writeFile(format, `SELECT ${value} AS user_id, 'x' AS name`, {
      output_format_arrow_low_cardinality_as_dictionary: '1',
    })
    expect(await rowsOf(file)).toEqual([
      want === undefined ? { name: 'x' } : { user_id: want, name: 'x' },
    ])
  })

  test.each<[string, unknown]>([
    ['true', true],
    ['CAST(false AS Nullable(Bool))', false],
    ['CAST(NULL AS Nullable(Bool))', undefined],
    ['1::UInt8', true],
    ['0::Int64', false],
    ['2::Int64', 2],
    [`'TRUE'`, true],
    [`'0'`, false],
    [`'yes'`, 'yes'],
    [`''`, undefined],
  ])('anonymous: %s', async (value, want) => {
    const file = await writeFile(format, `SELECT ${value} AS anonymous, 'x' AS name`)
    expect(await rowsOf(file)).toEqual([
      want === undefined ? { name: 'x' } : { anonymous: want, name: 'x' },
    ])
  })

  test.each<[string, string, unknown]>([
    ['text', `'{"a": 1}' AS properties`, { a: 1 }],
    ['text of two lines', `'{"a":\\n1}' AS properties`, { a: 1 }],
    ['no text', `'' AS properties`, undefined],
    ['text of something else', `'[1]' AS properties`, '[1]'],
    ['a map', `map('a', '1', 'b', '') AS properties`, { a: '1', b: '' }],
    ['a map of numbers', `map('a', 1.5) AS properties`, { a: 1.5 }],
    ['an empty map', `CAST(map() AS Map(String, String)) AS properties`, {}],
    [
      'a struct',
      `tuple(1, NULL, true, [2])::Tuple(a Int32, b Nullable(String), c Bool, d Array(Int32)) AS properties`,
      { a: 1, c: true, d: [2] },
    ],
    ['a number', `7 AS properties`, 7],
    ['single ones', `'x' AS "properties.plan", 2 AS "properties.n"`, { plan: 'x', n: 2 }],
    [
      'single ones that are empty or absent',
      `'' AS "properties.plan", CAST(NULL AS Nullable(Int32)) AS "properties.n"`,
      { plan: '' },
    ],
    ['both', `map('a', '1') AS properties, 'x' AS "properties.plan"`, { a: '1', plan: 'x' }],
    ['both, the first empty', `'{ }' AS properties, 'x' AS "properties.plan"`, { plan: 'x' }],
    ['both, the first absent', `'' AS properties, 'x' AS "properties.plan"`, { plan: 'x' }],
    ['both, the first no object', `'no' AS properties, 'x' AS "properties.plan"`, 'no'],
  ])('properties: %s', async (_, columns, properties) => {
    const file = await writeFile(format, `SELECT ${columns}, 'x' AS name`)
    expect(await rowsOf(file)).toEqual([
      properties === undefined ? { name: 'x' } : { name: 'x', properties },
    ])
  })

  test('text that is not UTF-8 makes its row invalid', async () => {
    const file = await writeFile(
      format,
      `SELECT if(number = 1, unhex('ff'), 'a') AS name FROM numbers(3)`,
      { output_format_arrow_string_as_string: '1' },
    )
    expect((await read(file)).lines).toEqual([
      '{"name":"a"}',
      '\x15is not valid UTF-8\x1f{"name":"\ufffd"}',
      '{"name":"a"}',
    ])
  })

  test('mapped columns may have any name', async () => {
    const file = await writeFile(
      format,
      `SELECT '1769853600' AS "when; DROP", 7 AS "a\`b\\\\c", 'direct' AS r, 'DE' AS country, 1 AS other`,
    )
    const mapping = new Map([
      ['timestamp', 'when; DROP'],
      ['user_id', 'a`b\\c'],
      ['properties.id', 'a`b\\c'],
      ['referrer_url', 'r'],
    ])
    expect(await rowsOf(file, { mapping })).toEqual([
      {
        timestamp: '2026-01-31T10:00:00.000Z',
        user_id: '7',
        country: 'DE',
        properties: { id: 7 },
      },
    ])
  })

  test('thousands of columns', async () => {
    const columns = Array.from({ length: 3_000 }, (_, i) => `${i} AS a_column_of_a_long_name_${i}`)
    const file = await writeFile(format, `SELECT ${columns.join(', ')}`)
    const mapping = new Map([['user_id', 'a_column_of_a_long_name_2999']])
    expect(await rowsOf(file, { mapping })).toEqual([{ user_id: '2999' }])
  })

  test('unknown columns are an error before any row is read', async () => {
    const file = await writeFile(format, `SELECT 'a' AS name, 1 AS plan, [2] AS tier`)
    await expect(read(file)).rejects.toThrow(
      'has columns that are not fields of an event: plan, tier; map them with --map <field>=<column>',
    )
  })

  test('a damaged file is an error, and leaves nothing', async () => {
    const file = await writeFile(
      format,
      `SELECT toString(rand64(number)) AS event_id FROM numbers(100000)`,
      { output_format_arrow_compression_method: 'none' },
    )
    const cut = file.subarray(0, file.length - 100_000)
    await expect(read(cut)).rejects.toThrow(
      /^(cannot be read as arrow: |is not Parquet, or is cut short)/,
    )
    const broken = Buffer.concat([
      file.subarray(0, file.length / 4),
      Buffer.alloc(file.length / 2, 0xff),
      file.subarray(file.length - file.length / 4),
    ])
    await expect(read(broken)).rejects.toThrow(/^cannot be read as (parquet|arrow): /)
    expect(await staged()).toEqual([])
  })
})

test('timestamps whose type has no zone are read in the zone of the import', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-columnar-'))
  const duck = await openDuckDatabase()
  try {
    const file = path.join(folder, 'times.parquet')
    // DuckDB marks only the first of these types as adjusted to UTC.
    await duck.run(
      raw(`COPY (
SELECT TIMESTAMPTZ '2026-07-01 10:00:00.123+00' AS zoned, TIMESTAMP '2026-07-01 10:00:00.123456' AS micros,
  TIMESTAMP_NS '2026-07-01 10:00:00.123456789' AS nanos, TIMESTAMP_MS '2026-03-29 02:30:00' AS skipped,
  DATE '2026-07-01' AS day) TO '${file}' (FORMAT parquet)`),
    )
    const bytes = await readFile(file)
    const times: Record<string, unknown> = {}
    for (const column of ['zoned', 'micros', 'nanos', 'skipped', 'day']) {
      const mapping = new Map([['timestamp', column]])
      for (const zone of ['UTC', 'Europe/Berlin']) {
        let isReported = false
        const onZoneless = (): void => void (isReported = true)
        const rows = await rowsOf(bytes, { mapping, zone, onZoneless })
        times[`${column} in ${zone}`] = [...rows.map((row) => (row as Row).timestamp), isReported]
      }
    }
    expect(times).toEqual({
      'zoned in UTC': ['2026-07-01T10:00:00.123Z', false],
      'zoned in Europe/Berlin': ['2026-07-01T10:00:00.123Z', false],
      'micros in UTC': ['2026-07-01T10:00:00.123Z', true],
      'micros in Europe/Berlin': ['2026-07-01T10:00:00.123', false],
      'nanos in UTC': ['2026-07-01T10:00:00.123Z', true],
      'nanos in Europe/Berlin': ['2026-07-01T10:00:00.123', false],
      'skipped in UTC': ['2026-03-29T02:30:00.000Z', true],
      'skipped in Europe/Berlin': ['2026-03-29T02:30:00.000', false],
      'day in UTC': ['2026-07-01T00:00:00.000Z', true],
      'day in Europe/Berlin': ['2026-07-01T00:00:00.000', false],
    })
  } finally {
    duck.close()
    await rm(folder, { recursive: true })
  }
})

test('a reader that stops early leaves nothing', async () => {
  const file = await writeFile('Parquet', `SELECT toString(number) AS name FROM numbers(50000)`)
  const opened = await openRows(inChunks(file), { writer: database.store.writer })
  for await (const chunk of opened.rows) {
    expect(chunk.length).toBeGreaterThan(0)
    break
  }
  expect(await staged()).toEqual([])
})

test("the service's writer account may read files", async () => {
  const writer = connect(getTestEndpoint(), 'writer')
  try {
    for (const format of FORMATS) {
      const file = await writeFile(format, `SELECT 'a' AS name, map('b', 'c') AS properties`)
      expect(await rowsOf(file, { writer })).toEqual([{ name: 'a', properties: { b: 'c' } }])
    }
  } finally {
    await writer.close()
  }
})
