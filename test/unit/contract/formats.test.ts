/** isText() accepts strings without NUL and lone surrogates. */
import { expect, test } from '@jest/globals'
import { isText } from '../../../src/lib/text.js'

test.each(['', 'a', 'ü', '😀', '\u2028', '\ufffd', '\n\t', '\u0301', '\u202e', '👩‍👩‍👧'])(
  '%j is text',
  (text) => {
    expect(isText(text)).toBe(true)
  },
)

test.each(['\0', 'a\0b', '\ud800', 'a\udc00', '\ud83d', '\ude00\ud83d', '😀\ud800'])(
  '%j is not text',
  (text) => {
    expect(isText(text)).toBe(false)
  },
)
