/** The timestamps of files: their forms, and their zones. */
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { resolveTimestamps } from '../../../../src/ingest/import/timestamps/resolve-timestamps.js'
import { parseFileTimestamp } from '../../../../src/ingest/import/timestamps/timestamps.js'
import { getOffset, toLocal } from '../../../../src/lib/time-zone.js'

const AT = '2026-11-01T10:00:00.000Z'
const read = (text: string, zone = 'UTC'): string | undefined =>
  parseFileTimestamp(text, zone)?.at.toISOString()

describe('a timestamp with a zone means the same whatever the zone of the import is', () => {
  test.each([
    ['2026-11-01T10:00:00Z', AT],
    ['2026-11-01 10:00:00+00', AT],
    ['2026-11-01 10:00:00 UTC', AT],
    ['2026-11-01 10:00:00 utc', AT],
    ['2026-11-01 10:00:00 GMT', AT],
    ['2026-11-01T10:00 UTC', AT],
    ['2026-11-01t10:00:00z', AT],
    ['2026-11-01 10:00:00.123Z', '2026-11-01T10:00:00.123Z'],
    ['2026-11-01 10:00:00,123Z', '2026-11-01T10:00:00.123Z'],
    ['2026-11-01 10:00:00.123999999 UTC', '2026-11-01T10:00:00.123Z'],
    ['2026-11-01 10:00:00.1+00', '2026-11-01T10:00:00.100Z'],
    ['2026-11-01 11:00:00+01', AT],
    ['2026-11-01 11:00:00 +0100', AT],
    ['2026-11-01 04:30:00-05:30', AT],
    ['1793527200', AT],
    ['1793527200.5', '2026-11-01T10:00:00.500Z'],
    ['1793527200123', '2026-11-01T10:00:00.123Z'],
    ['1793527200123999', '2026-11-01T10:00:00.123Z'],
    ['100000000', '1973-03-03T09:46:40.000Z'],
    ['4102444799999', '2099-12-31T23:59:59.999Z'],
    ['1970-01-01 00:00:00+00', '1970-01-01T00:00:00.000Z'],
    ['2099-12-31 23:59:59.999+00', '2099-12-31T23:59:59.999Z'],
  ])('%s', (text, at) => {
    expect([read(text), read(text, 'Asia/Kathmandu')]).toEqual([at, at])
    expect(parseFileTimestamp(text, 'UTC')?.isZoneless).toBe(false)
  })
})

describe('a timestamp without a zone is read in the zone of the import', () => {
  test.each([
    ['2026-11-01T10:00:00', 'UTC', AT],
    ['2026-11-01 10:00:00.5', 'UTC', '2026-11-01T10:00:00.500Z'],
    ['2026-11-01', 'UTC', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01', 'Europe/Berlin', '2026-10-31T23:00:00.000Z'],
    ['2026-07-01 10:00', 'Europe/Berlin', '2026-07-01T08:00:00.000Z'],
    ['2026-07-01 10:00:00', 'Asia/Kathmandu', '2026-07-01T04:15:00.000Z'],
    // The clock goes from 02:00 to 03:00 at 01:00 UTC.
    ['2026-03-29 01:59:59.999', 'Europe/Berlin', '2026-03-29T00:59:59.999Z'],
    ['2026-03-29 02:00:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29 02:30:00.123', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29 03:00:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    // The clock goes from 03:00 to 02:00 at 01:00 UTC, and shows the hour from 02:00 twice.
    ['2026-10-25 01:59:59', 'Europe/Berlin', '2026-10-24T23:59:59.000Z'],
    ['2026-10-25 02:00:00', 'Europe/Berlin', '2026-10-25T00:00:00.000Z'],
    ['2026-10-25 02:30:00.123', 'Europe/Berlin', '2026-10-25T00:30:00.123Z'],
    ['2026-10-25 03:00:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
    // A time in a skipped half hour, and a midnight that does not exist.
    ['2026-10-04 02:15', 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
    // An offset with seconds.
    ['1971-06-01 00:00:00', 'Africa/Monrovia', '1971-06-01T00:44:30.000Z'],
  ])('%s in %s', (text, zone, at) => {
    expect([read(text, zone), parseFileTimestamp(text, zone)?.isZoneless]).toEqual([at, true])
  })
})

test.each([
  '',
  'now',
  '2026-11',
  '2026-02-30',
  '2026-02-30 10:00:00',
  '2026-13-01',
  '2026-11-01T',
  '2026-11-01Z',
  '2026-11-01 24:00:00',
  '2026-11-01 10:60:00',
  '2026-11-01 10:00:60',
  '2026-11-01 10:00:00.',
  '2026-11-01 10:00:00.1234567890',
  '2026-11-01  10:00:00',
  '2026-11-01 10:00:00  UTC',
  '2026-11-01 10:00:00 CET',
  '2026-11-01 10:00:00 Europe/Berlin',
  '2026-11-01 10:00:00+1',
  '2026-11-01 10:00:00+24',
  '2026-11-01 10',
  ' 2026-11-01',
  '2026-11-01\n',
  '0000-01-01',
  '01/11/2026',
  '20261101',
  '20261101100000',
  '17698536000',
  '1769853600123.5',
  '1769853600123456789',
  '-1769853600',
  '1.769853600e9',
])('%j is refused', (text) => {
  expect(read(text)).toBeUndefined()
})

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe']

test('law: what the clock of a zone shows is read back, as the earlier moment if it shows it twice', () => {
  const end = Date.UTC(2100, 0) - 1
  fc.assert(
    fc.property(fc.integer({ min: 0, max: end }), fc.constantFrom(...ZONES), (ms, zone) => {
      const text = toLocal(zone, new Date(ms)).toISOString().slice(0, -1)
      const { at } = parseFileTimestamp(text.replace('T', ' '), zone)!
      const shown = toLocal(zone, at).toISOString().slice(0, -1)
      const isEarlier = at.getTime() < ms && getOffset(zone, at.getTime()) > getOffset(zone, ms)
      return shown === text && (at.getTime() === ms || isEarlier)
    }),
  )
})

describe('in lines', () => {
  const raw = String.raw
  const resolve = (text: string, zone = 'Europe/Berlin') => {
    let zoneless = 0
    const bytes = resolveTimestamps(Buffer.from(text), { zone, onZoneless: () => zoneless++ })
    return [bytes.toString(), zoneless]
  }
  const LOCAL = '"2026-11-01 11:00:00"'
  const UTC = `"${AT}"`

  test.each<[string, string, string, number]>([
    ['a line', `{"timestamp":${LOCAL}}`, `{"timestamp":${UTC}}`, 1],
    [
      'several lines, other bytes as they are',
      `\ufeff{ "a" : "é" , "timestamp" : ${LOCAL} }\r\n\n{"timestamp":${LOCAL}}\n`,
      `\ufeff{ "a" : "é" , "timestamp" : ${UTC} }\r\n\n{"timestamp":${UTC}}\n`,
      2,
    ],
    ['with a zone', '{"timestamp":"2026-11-01 10:00:00+00"}', `{"timestamp":${UTC}}`, 0],
    ['a number', '{"timestamp": 1793527200 }', `{"timestamp": ${UTC}}`, 0],
    ['milliseconds', '{"a":1,"timestamp":1793527200000}', `{"a":1,"timestamp":${UTC}}`, 0],
    [
      'in escapes',
      raw`{"time\u0073tamp":"2026-11-01\u002010:00+00"}`,
      raw`{"time\u0073tamp":${UTC}}`,
      0,
    ],
    [
      'the first that is not null',
      `{"timestamp":null,"timestamp":${LOCAL},"timestamp":${LOCAL}}`,
      `{"timestamp":null,"timestamp":${UTC},"timestamp":${LOCAL}}`,
      1,
    ],
  ])('%s', (_what, text, want, zoneless) => {
    expect(resolve(text)).toEqual([want, zoneless])
  })

  test.each([
    '',
    '\n\n',
    `{"timestamp":"2026-11-01T10:00:00Z"}\n`,
    `{"timestamp":"2026-11-01T11:00:00+01:00"}`,
    `{"timestamp":"yesterday"}`,
    `{"timestamp":20261101}`,
    `{"timestamp":[1793527200]}`,
    `{"timestamp":true}`,
    `{"timestamp":"2026-11-01 11:00`,
    `{"properties":{"timestamp":${LOCAL}},"x":"\\"timestamp\\":"}`,
    `\u0015reason\u001f{"timestamp":${LOCAL}}`,
    'nope',
  ])('%j stays as it is', (text) => {
    expect(resolve(text)).toEqual([text, 0])
  })
})
