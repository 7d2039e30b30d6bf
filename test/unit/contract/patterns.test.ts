/** The pattern beside a format matches every valid string, and only little else: clients may check it alone. */
import { expect, test } from '@jest/globals'
import { FORMATS } from '../../../src/contract/formats.js'

const TEXT = ['', 'a', 'line\nbreak', '😀', '%_*']

test.each<[name: string, valid: readonly string[], refused: readonly string[]]>([
  [
    'utc-date-or-second',
    ['2026-01-31', '0001-01-01', '2026-01-31T10:00:00Z', '2026-01-31T10:00:00+01:00'],
    ['', '30days', '2026-01-31T10:00:00+0100', '2026-01-31 10:00:00'],
  ],
  ['text', TEXT, ['\0', 'a\0b']],
  [
    'instant',
    ['', '2026-01-31T10:00Z', '2026-01-31T10:00:00.123456789+0530'],
    ['2026-01-31', 'today'],
  ],
  [
    'absolute-url',
    ['', 'https://a', 'app+x://h/p?q#f', 'http://ü/\n'],
    ['/path', 'a b', 'https://'],
  ],
  ['country', ['', 'DE'], ['de', 'DEU', 'D']],
  ['ip', ['', '203.0.113.7', '2001:db8::1', '::ffff:192.0.2.1'], ['localhost', 'fe80::1%eth0']],
])('%s', (name, valid, refused) => {
  const { pattern, validate } = FORMATS[name]!
  // Validators of JSON Schema use the flag u.
  for (const flags of ['', 'u']) {
    const expression = new RegExp(pattern, flags)
    expect(valid.filter((text) => !validate(text) || !expression.test(text))).toEqual([])
    expect(refused.filter((text) => validate(text) || expression.test(text))).toEqual([])
  }
})

test('every format has one', () => {
  expect(Object.values(FORMATS).filter(({ pattern }) => pattern === '')).toEqual([])
  expect(Object.keys(FORMATS)).toHaveLength(6)
})
