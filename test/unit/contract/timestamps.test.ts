/** parseInstant() parses ISO 8601 timestamps with an offset. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseInstant } from '../../../src/contract/timestamps.js'

test.each([
  ['1970-01-01T00:00Z', 0],
  ['1970-01-01T00:00:00.001Z', 1],
  ['1970-01-01T00:00:00.0019Z', 1],
  ['1970-01-01T01:30:00+01:30', 0],
  ['1969-12-31T22:30:00-0130', 0],
  ['1969-12-31T23:59:59.9Z', -100],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['1000-01-01T00:00:00Z', Date.UTC(1000, 0)],
  ['9999-12-31T23:59:59.999Z', Date.UTC(10_000, 0) - 1],
])('%s is %d', (text, want) => {
  expect(parseInstant(text)).toBe(want)
})

test.each([
  '2023-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-01-01T00:00:00',
  '2026-01-01T00:00:00z',
  '2026-01-01T00:00:00.Z',
  '2026-01-01T00Z',
  '2026-01-01T00:00:00Z\n',
  '0999-01-01T00:00:00Z',
  '',
])('%j is not a timestamp', (text) => {
  expect(parseInstant(text)).toBeUndefined()
})

test('the output of toISOString() is parsed to the same time', () => {
  const dates = fc.date({
    min: new Date('1000-01-01'),
    max: new Date('9999-12-31'),
    noInvalidDate: true,
  })
  fc.assert(fc.property(dates, (date) => parseInstant(date.toISOString()) === date.getTime()))
})
