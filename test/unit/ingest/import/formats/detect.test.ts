/** Formats are detected from the first bytes of a source. */
import { describe, expect, test } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import { detectFormat } from '../../../../../src/ingest/import/formats/detect.js'
import { readText } from './support.js'

const EVENT = '{"timestamp":"2026-01-31T10:00:00Z"}'
const LOG = '192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a,os,url HTTP/1.1" 200 1'

describe('the first bytes', () => {
  test.each<[string, string | Buffer, string | undefined]>([
    ['Parquet', 'PAR1\x15\x04', 'parquet'],
    ['an Arrow file', 'ARROW1\0\0', 'arrow'],
    ['an Arrow stream', Buffer.from([255, 255, 255, 255, 16, 0, 0, 0]), 'arrow'],
    ['NDJSON', EVENT, 'ndjson'],
    ['NDJSON behind a mark and blank lines', `\ufeff\n  \r\n ${EVENT}`, 'ndjson'],
    ['NDJSON whose first row is damaged', `nope\n${EVENT}`, 'ndjson'],
    ['JSON that is cut short', '{"timest', 'ndjson'],
    ['a log', LOG, 'log'],
    ['a log whose first line is damaged', `x\n${LOG}`, 'log'],
    ['CSV', 'timestamp,url\n1,2', 'csv'],
    ['CSV in quotes, with a mark', '\ufeff"url","x"\r\n', 'csv'],
    ['CSV of one known column', 'plan, user_id ,x', 'csv'],
    ['CSV of a property', 'properties.plan', 'csv'],
    ['CSV whose cells look like others', `url\n${EVENT}\n${LOG}`, 'csv'],
    ['CSV of unknown names', 'uuid,when', undefined],
    ['a JSON array', '[\n 1\n]', undefined],
    ['words', 'Lorem ipsum\ndolor', undefined],
    ['bytes', Buffer.from([0, 1, 2, 255]), undefined],
    ['UTF-16', Buffer.from(`\ufeff${EVENT}`, 'utf16le'), undefined],
    ['nothing', '', undefined],
  ])('%s', (_, given, want) => {
    expect(detectFormat(Buffer.from(given), new Map())).toBe(want)
  })

  test('mapped names are known names', () => {
    expect(detectFormat(Buffer.from('uuid,when\n'), new Map([['user_id', 'uuid']]))).toBe('csv')
  })
})

test.each<[string, string | Buffer, Parameters<typeof readText>[1], string]>([
  ['nothing', '', {}, 'is empty'],
  ['blanks', ' \n\t\n', {}, 'is empty'],
  ['gzip of nothing', gzipSync(''), {}, 'is empty'],
  [
    'words',
    'Lorem ipsum',
    {},
    'is not recognised as ndjson, csv, parquet, arrow, log; name its format with --format, ' +
      'or map its columns with --map <field>=<column>',
  ],
  [
    'a mapping for a log',
    LOG,
    { mapping: new Map([['url', 'u']]) },
    'is an access log, which has no columns to --map',
  ],
  [
    'an origin for NDJSON',
    EVENT,
    { origin: 'https://a.example' },
    'is ndjson; --origin is for access logs',
  ],
  ['text as Parquet', 'timestamp\n', { format: 'parquet' }, 'is not Parquet, or is cut short'],
  ['text as Arrow', 'timestamp\n', { format: 'arrow' }, 'is not Arrow, or is cut short'],
  [
    'Parquet that is cut short',
    'PAR1\x15\x04\x15\x10\x15\x14',
    {},
    'is not Parquet, or is cut short',
  ],
  ['an Arrow file that is cut short', 'ARROW1\0\0', {}, 'is not Arrow, or is cut short'],
])('%s is an error', async (_, given, options, message) => {
  await expect(readText(given, options)).rejects.toThrow(new Error(message))
})

test.each([1, 10, 100_000])('gzip is unpacked first, in chunks of %d bytes', async (size) => {
  const packed = gzipSync(`timestamp\n${'2026-01-31T10:00:00Z\n'.repeat(3)}`)
  expect(await readText(packed, {}, size)).toEqual({
    format: 'csv',
    identity: '["csv",[],""]',
    lines: [EVENT, EVENT, EVENT],
    skipped: 0,
  })
})

test('NDJSON passes unchanged, whatever it holds', async () => {
  const text = `\ufeff${EVENT}\r\n\nnope\n\xff ${EVENT}`
  const { lines } = await readText(Buffer.from(text, 'utf8'))
  expect(lines.join('\n')).toBe(text)
})

test('the error of a damaged gzip file says so', async () => {
  const packed = gzipSync(EVENT.repeat(1_000))
  await expect(readText(packed.subarray(0, 40))).rejects.toMatchObject({ code: 'Z_BUF_ERROR' })
})
