/** checkPattern() says what is wrong with a pattern, and where. */
import { expect, test } from '@jest/globals'
import { checkPattern } from '../../../../src/analytics/request/patterns.js'

const UUID = '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'

test.each([
  '',
  'a',
  UUID,
  '^/(blog|news)/[0-9]{4}/',
  '(?i)x',
  '(?P<name>a)',
  '\\Q(\\E',
  '[](]',
  '[[:alpha:](]',
  '\\(',
  '.{1000}',
  '\\p{L}{40}',
  'é'.repeat(256),
  '😀'.repeat(256),
])('%s is a pattern', (pattern) => {
  expect(checkPattern(pattern)).toBeUndefined()
})

const TOO_LONG = 'must have at most 256 characters to be a pattern'
const TOO_LARGE = 'must have at most 2000 parts as a pattern, with its repetitions written out'
const wrong = (reason: string, at: number): string =>
  `must be a pattern of RE2: ${reason} at character ${at}`

test.each([
  ['x'.repeat(257), TOO_LONG],
  ['.{1000}.{1000}x', TOO_LARGE],
  ['((((a{10}b){10}){10}){2}', TOO_LARGE],
  ['[a-z]{0,999}'.repeat(20), TOO_LARGE],
  ['\\p{L}{41}', TOO_LARGE],
  ['(?:\\PL[^a]){40}', TOO_LARGE],
  ['a{99999999999}', TOO_LARGE],
  ['(', wrong('missing closing )', 1)],
  ['a(b)(c', wrong('missing closing )', 5)],
  ['\\([(](?i:a', wrong('missing closing )', 6)],
  ['ab)', wrong('unexpected )', 3)],
  ['[a', wrong('missing closing ]', 1)],
  ['é[z-a]', wrong('invalid character class range', 3)],
  ['😀a**', wrong('invalid nested repetition operator', 3)],
  ['|*', wrong('missing argument to repetition operator', 2)],
  ['a{1001}', wrong('invalid repeat count', 2)],
  ['a(?=b)', wrong('invalid or unsupported Perl syntax', 2)],
  ['(a)\\1', wrong('invalid escape sequence', 4)],
  ['a\\', wrong('trailing backslash at end of expression', 2)],
  ['\\p{Nobody}', wrong('invalid character class range', 1)],
])('%s: %s', (pattern, want) => {
  expect(checkPattern(pattern)).toBe(want)
})
