/** Tables in every format, read by other programs. */
import { describe, expect, test } from '@jest/globals'
import { buffer } from 'node:stream/consumers'
import type { TableFormat } from '../../../../src/contract/response-formats.js'
import type { Column, Table, TableRow } from '../../../../src/analytics/table.js'
import { WRITERS } from '../../../../src/http/formats/send-table.js'
import { readTable, type ReadRow } from '../../../support/formats/read-table.js'

const FORMATS = Object.keys(WRITERS) as TableFormat[]

const COLUMNS: readonly Column[] = [
  { name: 'event:prop:a "b", c', type: 'text' },
  { name: 'count', type: 'integer' },
  { name: 'ratio', type: 'number' },
  { name: 'is_it', type: 'boolean' },
  { name: 'at', type: 'moment' },
  { name: 'properties', type: 'json' },
]

const ROWS: readonly TableRow[] = [
  ['a', 1, 0.5, true, '2026-01-01T00:00:00.000Z', '{"a":1}'],
  ['', 0, 0, false, '1969-12-31T23:59:59.999Z', '{}'],
  [null, null, null, null, null, null],
  ['say "hi", or\r\nnot\n', Number.MAX_SAFE_INTEGER, 33.33, true, '2105-01-01T10:11:12.345Z', '[]'],
  ['=1+1', -1, -0.01, null, '2026-06-15T12:34:56.789Z', '{"b":"ü\\n"}'],
  [' ünï𝄞 ', 42, 100, false, null, '""'],
]

const FACTS = { period: '2026-01-01T00:00:00Z/2026-01-31T23:59:59Z', total: '6' }

const toObject = (row: TableRow): ReadRow =>
  Object.fromEntries(COLUMNS.map(({ name }, i) => [name, row[i]]))

/** What is read of a row: CSV has texts alone, and in NDJSON a column of JSON is no text. */
const EXPECTED: Readonly<Record<TableFormat, (row: TableRow) => ReadRow>> = {
  csv: (row) => toObject(row.map((cell) => (cell === null ? null : String(cell)))),
  ndjson: (row) => {
    const object = toObject(row)
    const text = object['properties']
    return { ...object, properties: typeof text === 'string' ? JSON.parse(text) : null }
  },
  arrow: toObject,
  parquet: toObject,
}

async function* toBatches(batches: readonly (readonly TableRow[])[]): Table['batches'] {
  for (const batch of batches) yield await Promise.resolve(batch)
}

const write = (format: TableFormat, batches: readonly (readonly TableRow[])[]): Promise<Buffer> =>
  buffer(WRITERS[format]({ columns: COLUMNS, facts: FACTS, batches: toBatches(batches) }))

describe.each(FORMATS)('%s', (format) => {
  test.each([
    { what: 'rows of one batch', batches: [ROWS] },
    { what: 'rows of several batches', batches: [ROWS.slice(0, 2), ROWS.slice(2)] },
    { what: 'no rows', batches: [] },
    {
      what: 'more rows than are kept in memory',
      batches: Array.from({ length: 28 }, () => Array.from({ length: 50 }, () => ROWS).flat()),
    },
  ])('$what', async ({ batches }) => {
    const read = await readTable(format, await write(format, batches))
    const hasNames = format !== 'ndjson' || batches.length > 0
    const hasMetadata = format === 'arrow' || format === 'parquet'
    expect(read).toEqual({
      names: hasNames ? COLUMNS.map(({ name }) => name) : [],
      rows: batches.flat().map(EXPECTED[format]),
      metadata: hasMetadata ? { 'tally.period': FACTS.period, 'tally.total': FACTS.total } : {},
    })
  })

  test('rows that break off break the table off', async () => {
    const failure = new Error('broken')
    async function* breakOff(): Table['batches'] {
      yield await Promise.resolve(ROWS)
      throw failure
    }
    const table = { columns: COLUMNS, facts: FACTS, batches: breakOff() }
    await expect(buffer(WRITERS[format](table))).rejects.toBe(failure)
  })
})

test('CSV is that of RFC 4180', async () => {
  expect((await write('csv', [ROWS.slice(0, 4)])).toString()).toBe(
    [
      '"event:prop:a ""b"", c",count,ratio,is_it,at,properties',
      'a,1,0.5,true,2026-01-01T00:00:00.000Z,"{""a"":1}"',
      '"",0,0,false,1969-12-31T23:59:59.999Z,{}',
      ',,,,,',
      '"say ""hi"", or\r\nnot\n",9007199254740991,33.33,true,2105-01-01T10:11:12.345Z,[]',
      '',
    ].join('\r\n'),
  )
})

test('NDJSON', async () => {
  expect((await write('ndjson', [ROWS.slice(0, 1)])).toString()).toBe(
    '{"event:prop:a \\"b\\", c":"a","count":1,"ratio":0.5,"is_it":true,"at":"2026-01-01T00:00:00.000Z","properties":{"a":1}}\n',
  )
})
