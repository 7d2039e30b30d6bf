/** findJsonError() finds an error exactly where JSON.parse() refuses a text. */
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { describeJsonError, findJsonError } from '../../../src/lib/json-error.js'

test.each<[text: string, position: number | undefined]>([
  ['{}', undefined],
  [' [1, {"a": [true, null]}, "x\\u00e9"] ', undefined],
  ['\ufeff{"a":1}', undefined],
  ['-0.5e+3', undefined],
  ['', 0],
  ['{', 1],
  ['{"a":1,}', 7],
  ['[1,]', 3],
  ["{'a':1}", 1],
  ['{"a":1} x', 8],
  ['{"a":NaN}', 5],
  ['{"a" 1}', 5],
  ['{"a":01}', 6],
  ['{a:1}', 1],
  ['[1 2]', 3],
  ['[}', 1],
  ['{"a":"x\ty"}', 5],
  ['{"a":"x', 5],
  ['"\\x"', 0],
  ['\ufeff\ufeff{}', 1],
  [',', 0],
])('%j: %s', (text, position) => {
  expect(findJsonError(text)).toBe(position)
})

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('agrees with JSON.parse', () => {
  test('on JSON', () => {
    fc.assert(fc.property(fc.json(), (text) => findJsonError(text) === undefined))
  })

  test('on JSON with a change, and on the part before the error', () => {
    const piece = fc.constantFrom(
      '',
      ',',
      ':',
      '"',
      '{',
      '}',
      '[',
      ']',
      '1',
      '\\',
      ' ',
      'null',
      '\n',
    )
    const edit = fc.tuple(fc.json(), fc.nat(), fc.nat(3), piece)
    fc.assert(
      fc.property(edit, ([json, at, length, inserted]) => {
        const start = at % (json.length + 1)
        const text = json.slice(0, start) + inserted + json.slice(start + length)
        const position = findJsonError(text)
        expect(position === undefined).toBe(isJson(text))
        if (position === undefined) return
        // Nothing before it is wrong: that part is JSON, or only ends too early.
        expect([undefined, position]).toContain(findJsonError(text.slice(0, position)))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each(['['.repeat(1_000_000), `"${'\\n'.repeat(500_000)}"x`, '1'.repeat(1_000_000) + 'x'])(
    'on a megabyte',
    (text) => {
      expect(findJsonError(text)).toBeGreaterThan(999_999)
    },
  )
})

test.each([
  ['{"a": oops}', 'is not valid JSON at line 1, column 7'],
  ['{\n  "a": 1,\n}', 'is not valid JSON at line 3, column 1'],
  ['{"a":', 'is not valid JSON at line 1, column 6, where it ends'],
  ['[]', undefined],
])('%j: %s', (text, message) => {
  expect(describeJsonError(text)).toBe(message)
})
