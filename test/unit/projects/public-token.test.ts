/** New public tokens have a check sum. */
import { expect, test } from '@jest/globals'
import { createPublicToken, inspectToken } from '../../../src/projects/public-token.js'

test('a new token has the right check sum, and differs each time', () => {
  const tokens = Array.from({ length: 100 }, createPublicToken)
  expect(new Set(tokens).size).toBe(100)
  for (const token of tokens) {
    expect(token).toMatch(/^tallypub_[a-z0-9]{30}$/)
    expect(inspectToken(token)).toBe('right')
  }
})

test.each([
  ['tallypub_abcdefghijklmnopqrstuvwxopkpri', 'right'],
  ['tallypub_abcdefghijklmnopqrstuvwxopkprj', 'wrong'],
  ['tallypub_bbcdefghijklmnopqrstuvwxopkpri', 'wrong'],
  ['tallypub_abcdefghijklmnopqrstuvwx', 'none'],
  ['tallypub_of-another-project', 'none'],
  ['TALLYPUB_abcdefghijklmnopqrstuvwxopkpri', 'none'],
  ['tallypub_abcdefghijklmnopqrstuvwxopkpri\n', 'none'],
  ['', 'none'],
])('%j: %s', (token, want) => {
  expect(inspectToken(token)).toBe(want)
})
