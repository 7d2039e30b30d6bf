/** How commands format output and parse options. */
import { describe, expect, test } from '@jest/globals'
import { InvalidArgumentError } from 'commander'
import { parseDays, parseExpiry, parseClearableList } from '../../../src/commands/shared/options.js'
import { formatTime, formatTable } from '../../../src/commands/shared/output.js'

const NOW = new Date('2026-01-31T12:00:00.500Z')

test('a table has aligned columns, without spaces at the ends of its lines', () => {
  expect(
    formatTable([
      ['ID', 'NAME'],
      ['longer', 'x'],
      ['a', ''],
    ]),
  ).toBe('ID      NAME\nlonger  x\na')
})

test.each([
  [NOW, '2026-01-31 12:00:00 UTC'],
  [null, '-'],
])('the moment %s', (time, want) => {
  expect(formatTime(time)).toBe(want)
})

describe('expiry', () => {
  test.each([
    ['1d', '2026-02-01T12:00:00.500Z'],
    ['30d', '2026-03-02T12:00:00.500Z'],
    ['2026-12-31', '2026-12-31T00:00:00.000Z'],
    ['2026-12-31T10:00Z', '2026-12-31T10:00:00.000Z'],
    ['2026-12-31T10:00:00+02:00', '2026-12-31T08:00:00.000Z'],
  ])('%s', (text, want) => {
    expect(parseExpiry(text, NOW).toISOString()).toBe(want)
  })

  test.each([
    '',
    'd',
    '0d',
    '-1d',
    '30',
    '30 d',
    '2026-02-30',
    '2026-12-31T10:00',
    '31.12.2026',
    'never',
  ])('refuses %j', (text) => {
    expect(() => parseExpiry(text, NOW)).toThrow(InvalidArgumentError)
  })
})

test.each([
  ['90', 90],
  ['none', 'none'],
])('days %s', (text, want) => {
  expect(parseDays(text)).toBe(want)
})

test.each(['', '0', '-1', '1.5', 'x', '1e3'])('days refuses %j', (text) => {
  expect(() => parseDays(text)).toThrow(InvalidArgumentError)
})

test.each([
  [undefined, undefined],
  [['none'], []],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
])('values %j', (given, want) => {
  expect(parseClearableList(given)).toEqual(want)
})
