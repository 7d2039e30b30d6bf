/** Invalid values of each field in each format: their rows are rejected with a reason, the others are loaded. */
import { describe, expect, test } from '@jest/globals'
import { FIELDS } from '../../../../src/model/event-fields.js'
import { isSampled } from '../../../support/effort.js'
import { writeFile, type FileFormat } from '../../../support/sources/columnar.js'
import { withDatabase } from '../../../support/store/database.js'
import { sql, string } from '../../../../src/clickhouse/sql.js'
import { select } from '../../../support/store/facts.js'
import {
  importBytes,
  type Imported,
  type OpenOptions,
} from '../../../support/sources/import-bytes.js'
import { newProject } from '../../../support/world/world.js'

const AT = '2026-01-31T10:00:00Z'
const WRONG_TIME = 'timestamp: must be ISO 8601 with Z or an offset, as 2026-01-31T10:00:00.000Z'
const FAR_TIME = 'timestamp: must lie between the years 1970 and 2099'
const WRONG_OBJECT = 'properties: must be an object'
const WRONG_PROPERTY = 'properties: names must have 1 to 128 characters'
const entries = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i])))

type Case = readonly [field: string, value: string, reason: string]

/** Text values, which every format can hold. */
const CASES: readonly Case[] = [
  ['timestamp', '', 'timestamp: is required'],
  ...[
    '2026-02-30T10:00:00Z',
    '2026-02-30',
    '2026-01-31 10:00:00 CET',
    '20260131',
    '31/Jan/2026',
  ].map((value) => ['timestamp', value, WRONG_TIME] as const),
  ['timestamp', '1969-12-31T23:59:59Z', FAR_TIME],
  ['timestamp', '2100-01-01T00:00:00Z', FAR_TIME],
  ['name', 'x'.repeat(129), 'name: must have 1 to 128 characters'],
  ...['/relative', 'example.com', 'https://'].map(
    (value) => ['url', value, 'url: must be absolute, as https://example.com/path'] as const,
  ),
  ...['Germany', 'de', 'DEU', 'D1'].map(
    (value) => ['country', value, 'country: must be an ISO 3166-1 alpha-2 code, as DE'] as const,
  ),
  ...['localhost', '300.1.1.1', '192.0.2.7:80'].map(
    (value) => ['ip', value, 'ip: must be an IP address'] as const,
  ),
  ...['yes', '2', 'null'].map(
    (value) => ['anonymous', value, 'anonymous: must be a boolean'] as const,
  ),
  ...['no', '[1]', '"x"', '{"a":1', 'null'].map(
    (value) => ['properties', value, WRONG_OBJECT] as const,
  ),
  ['properties', entries(65), 'properties: must have at most 64 entries'],
  ['properties', '{"":1}', WRONG_PROPERTY],
  ['properties', `{"${'x'.repeat(129)}":1}`, WRONG_PROPERTY],
  ['path', 'a\0b', 'must not contain the character NUL'],
]

type Row = Readonly<Record<string, string>>

const GOOD: Row = { timestamp: AT }

/** For each case a valid row, the invalid one, and a valid row. */
const ROWS: readonly Row[] = CASES.flatMap(([field, value]) => [
  GOOD,
  { ...GOOD, [field]: value },
  GOOD,
])
const COLUMNS = [...new Set(CASES.map(([field]) => field))]
const cellsOf = (row: Row): readonly string[] => COLUMNS.map((column) => row[column] ?? '')

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
const literal = (text: string): string =>
  `'${text.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`

const columnar = (format: FileFormat) => (): Promise<Buffer> => {
  const values = ROWS.map((row) => `(${cellsOf(row).map(literal).join(', ')})`)
  const types = COLUMNS.map((column) => `${column} String`).join(', ')
  return writeFile(format, `SELECT * FROM values('${types}', ${values.join(', ')})`)
}

/** Writes all rows in one format. */
const FORMATS: Readonly<Record<string, () => Promise<Buffer> | Buffer>> = {
  ndjson: () => Buffer.from(ROWS.map((row) => JSON.stringify(row)).join('\n')),
  csv: () =>
    Buffer.from(
      [COLUMNS, ...ROWS.map(cellsOf)].map((cells) => cells.map(quoted).join(',')).join('\n'),
    ),
  parquet: columnar('Parquet'),
  arrow: columnar('Arrow'),
  'arrow stream': columnar('ArrowStream'),
}

const database = withDatabase()

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes)
}

async function importing(bytes: Buffer): Promise<Imported> {
  const { id } = await newProject(database.store)
  return importBytes(database.store, id, one(bytes))
}

describe.each(Object.keys(FORMATS))('%s', (format) => {
  /** One import of all rows, shared by all cases. */
  let imported: Promise<Imported> | undefined
  const importAll = async (): Promise<Imported> =>
    (imported ??= importing(await FORMATS[format]!()))

  test.each(COLUMNS)('%s', async (field) => {
    const { rejections } = await importAll()
    const wanted = CASES.flatMap(([name, value, reason], i) => {
      // In formats without objects, the text of a JSON object is one.
      const isText = format === 'ndjson' && field === 'properties' && value !== ''
      return name === field ? [{ row: 3 * i + 2, reason: isText ? WRONG_OBJECT : reason }] : []
    })
    const rows = new Set(wanted.map(({ row }) => row))
    expect(
      rejections.filter(({ row }) => rows.has(row)).map(({ row, reason }) => ({ row, reason })),
    ).toEqual(wanted)
  })

  test('all other rows are loaded', async () => {
    const { report, rejections } = await importAll()
    expect(rejections).toHaveLength(CASES.length)
    expect(report).toMatchObject({
      received: 3 * CASES.length,
      events: 2 * CASES.length,
      rejected: CASES.length,
    })
  })
})

const TIMES = {
  '2026-11-01T10:00:00Z': '2026-11-01 10:00:00.000',
  '2026-11-01 10:00:00+00': '2026-11-01 10:00:00.000',
  '2026-11-01T10:00:00': '2026-11-01 09:00:00.000',
  '2026-11-01': '2026-10-31 23:00:00.000',
  '2026-11-01 10:00:00 UTC': '2026-11-01 10:00:00.000',
  '2026-11-01 10:00:00.123Z': '2026-11-01 10:00:00.123',
  '2026-07-01 10:00:00.1239': '2026-07-01 08:00:00.123',
}

describe('timestamps of other forms, in the zone of the import', () => {
  const times = Object.keys(TIMES)
  const values = times.map((time) => `(${literal(time)})`).join(', ')
  const table = `SELECT * FROM values('timestamp String', ${values})`
  const files: readonly (readonly [string, () => Promise<Buffer> | Buffer, OpenOptions])[] = [
    ['ndjson', () => Buffer.from(times.map((time) => `{"timestamp":"${time}"}\n`).join('')), {}],
    [
      'mapped ndjson',
      () => Buffer.from(times.map((time) => `{"t":"${time}"}\n`).join('')),
      { mapping: new Map([['timestamp', 't']]) },
    ],
    ['csv', () => Buffer.from(`timestamp\n${times.join('\n')}\n`), {}],
    ['parquet', () => writeFile('Parquet', table), {}],
    ['arrow', () => writeFile('Arrow', table), {}],
  ]

  test.each(files)('%s', async (_format, write, options) => {
    const { id } = await newProject(database.store)
    const bytes = await write()
    const { report, rejections, zoneless } = await importBytes(database.store, id, one(bytes), {
      zone: 'Europe/Berlin',
      ...options,
    })
    expect({ report, rejections, zoneless }).toMatchObject({
      report: { received: times.length, events: times.length },
      rejections: [],
      zoneless: 3,
    })
    const stored = await select<{ at: string }>(
      database.store,
      sql`SELECT toString(timestamp) AS at FROM events WHERE project_id = ${string(id)} ORDER BY timestamp`,
    )
    expect(stored.map(({ at }) => at)).toEqual(Object.values(TIMES).sort())
  })
})

/** Values of other types, in formats with typed columns. */
const TEXTS = [...FIELDS].flatMap(([field, type]) => (type === 'string' ? [field] : []))
const TYPED: readonly (readonly [columns: string, reason: string])[] = [
  ...['[1]', 'true', 'tuple(1)::Tuple(a Int32)'].map(
    (value) =>
      [
        TEXTS.map((field) => `${value} AS ${field}`).join(', '),
        TEXTS.map((field) => `${field}: must be a string`).join('; '),
      ] as const,
  ),
  ...['2', '[1]', '0.5'].map(
    (value) =>
      [`'${AT}' AS timestamp, ${value} AS anonymous`, 'anonymous: must be a boolean'] as const,
  ),
  ...['7', '[1]', 'true'].map(
    (value) => [`'${AT}' AS timestamp, ${value} AS properties`, WRONG_OBJECT] as const,
  ),
  [`'${AT}' AS timestamp, 3221225985::UInt32 AS ip`, 'ip: must be an IP address'],
  ['9223372036854775807::Int64 AS timestamp', `${WRONG_TIME}; ${FAR_TIME}`],
  [`toDate32('1950-01-01') AS timestamp`, FAR_TIME],
]

describe.each<[FileFormat, number]>([
  ['Parquet', 1],
  ['Arrow', 2],
  ['ArrowStream', 3],
])('%s: values of other types', (format, n) => {
  test.each(TYPED.filter((_, i) => isSampled(3 * i + n, 10)))('%s', async (columns, reason) => {
    const { rejections } = await importing(await writeFile(format, `SELECT ${columns}`))
    expect(rejections.map((rejection) => rejection.reason)).toEqual([reason])
  })
})

const LOG = `192.0.2.7 - - [31/Jan/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"`

test('a log: an invalid line is reported with its number and reason', async () => {
  const wrong = [
    [LOG.replace('192.0.2.7', 'host.example'), 'ip: must be an IP address'],
    [LOG.replace('31/Jan', '30/Feb'), WRONG_TIME],
    [LOG.replace('31/Jan/2026', '31/Jan/1960'), FAR_TIME],
    ['nope', 'is not a line of the Common or Combined Log Format'],
  ] as const
  const lines = wrong.flatMap(([line]) => [LOG, line])
  const { report, rejections, skipped } = await importing(
    Buffer.from([...lines, LOG.replace('/a', '/a.css'), LOG].join('\n')),
  )
  expect(rejections.map(({ row, reason }) => [row, reason])).toEqual(
    wrong.map(([, reason], i) => [2 * i + 2, reason]),
  )
  expect([report.received, report.events, skipped]).toEqual([9, 5, 1])
  expect(rejections.at(-1)?.line).toBe('nope')
})

test('CSV: records that cannot be read are reported beside invalid ones', async () => {
  const { report, rejections } = await importing(
    Buffer.from(
      `timestamp,path\n${AT},/a\n${AT}\n\n${AT},"/b\n c"\nnope,/d\n${AT},/"e"\n${AT},/f\n`,
    ),
  )
  expect(rejections).toEqual([
    { row: 2, reason: 'has 1 cells where the header has 2', line: AT },
    { row: 5, reason: WRONG_TIME, line: '{"timestamp":"nope","path":"/d"}' },
    { row: 6, reason: 'has a quote in the wrong place', line: `${AT},/"e"` },
  ])
  expect(report).toMatchObject({ received: 6, events: 3, rejected: 3 })
})

test('a file that changes its format: rows of the other format are rejected', async () => {
  const { report, rejections } = await importing(
    Buffer.from(`{"timestamp":"${AT}"}\ntimestamp,path\n${LOG}\n{"timestamp":"${AT}"}\n`),
  )
  expect(rejections.map(({ row, reason }) => [row, reason])).toEqual([
    [2, 'is not valid JSON'],
    [3, 'is not valid JSON'],
  ])
  expect(report).toMatchObject({ events: 2, rejected: 2 })
})
