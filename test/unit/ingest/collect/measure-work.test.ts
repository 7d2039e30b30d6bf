/** The work of loading events: their different values, the events themselves, and their size. */
import { expect, test } from '@jest/globals'
import { measureWork } from '../../../../src/ingest/collect/measure-work.js'
import type { SentEvent } from '../../../../src/contract/collector-api.js'

const times = (count: number, make: (n: number) => SentEvent): SentEvent[] =>
  Array.from({ length: count }, (_, n) => make(n))

test.each<[why: string, events: readonly SentEvent[], bytes: number, want: number]>([
  ['none', [], 0, 0],
  ['an event without a value', [{}], 2, 1],
  ['ids of events and timestamps are no values', [{ event_id: 'a', timestamp: '' }], 0, 1],
  ['fields', [{ name: 'a', url: 'https://a.example/' }], 0, 3],
  ['properties', [{ properties: { a: 1, b: '1' } }], 0, 3],
  ['the same values once', times(3, () => ({ name: 'a', properties: { a: 'x' } })), 0, 5],
  ['other values of the same fields', times(3, (n) => ({ name: `${n}` })), 0, 6],
  ['the same value in other fields', [{ browser: 'a', os: 'a' }], 0, 3],
  ['a property and a field of one name', [{ name: 'a', properties: { name: 'a' } }], 0, 3],
  ['values of other types', [{ properties: { a: 1 } }, { properties: { a: '1' } }], 0, 4],
  ['each list and object', times(2, () => ({ properties: { a: [1], b: {} } })), 0, 6],
  ['user agents ten times', times(2, (n) => ({ user_agent: `${n}` })), 0, 22],
  ['each 256 bytes', [{}], 1_023, 4],
])('%s', (_why, events, bytes, want) => {
  expect(measureWork(events, bytes)).toBe(want)
})
