/** A line holds its event unchanged, unless the event is too large: then its texts are truncated as the loader does. */
import { expect, test } from '@jest/globals'
import { formatLine } from '../../../../src/ingest/collect/format-line.js'

const parse = (line: string | undefined): unknown => line && JSON.parse(line)

test('a small event is written unchanged', () => {
  const event = {
    name: 'a',
    path: 'x'.repeat(5_000),
    properties: { a: [1, null], b: 'y'.repeat(9_000) },
  }
  expect(formatLine(event)).toBe(JSON.stringify(event))
})

test('the texts of a large event are truncated to 1,024 characters; URLs stay whole', () => {
  const url = `https://a/?b=${'c'.repeat(5_000)}`
  const event = {
    anonymous: true,
    url,
    referrer_url: url,
    path: '😀'.repeat(3_000),
    hash: `x${'😀'.repeat(3_000)}`,
    properties: {
      text: 'ü'.repeat(20_000),
      list: Array.from({ length: 999 }, () => 1),
      small: { a: 1 },
    },
  }
  expect(parse(formatLine(event))).toEqual({
    anonymous: true,
    url,
    referrer_url: url,
    path: '😀'.repeat(1_024),
    hash: `x${'😀'.repeat(1_023)}`,
    properties: {
      text: 'ü'.repeat(1_024),
      list: JSON.stringify(event.properties.list).slice(0, 1_024),
      small: { a: 1 },
    },
  })
})

test('an event that is too large even then has no line', () => {
  const texts = Object.fromEntries(
    Array.from({ length: 64 }, (_, n) => [`p${n}`, 'x'.repeat(2_000)]),
  )
  expect(formatLine({ properties: texts })).toBeUndefined()
})
