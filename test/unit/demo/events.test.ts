/** The events of the demo: the same each time, in the order of time, and lively. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import { generateEvents, type DemoPeriod } from '../../../src/demo/events.js'
import type { DemoEvent } from '../../../src/demo/visit.js'

const at = (text: string): Date => new Date(text)
const start = at('2026-01-01T00:00:00Z')
const until = at('2026-01-25T15:30:00Z')
const eventsOf = (period: Partial<DemoPeriod> = {}): readonly DemoEvent[] =>
  [...generateEvents({ start, from: start, until, ...period })].flat()

let events: readonly DemoEvent[]
beforeAll(() => {
  events = eventsOf()
})

test('they are the same each time', () => {
  const later = { from: at('2026-01-20T11:00:00Z') }
  expect(eventsOf(later)).toEqual(eventsOf(later))
})

test('a later run goes on where an earlier one ended, and changes nothing', () => {
  const noon = at('2026-01-20T12:00:00Z')
  const before = eventsOf({ until: noon })
  expect(before).toEqual(events.filter(({ timestamp }) => timestamp <= noon.toISOString()))
  const after = eventsOf({ from: noon })
  expect(after).toEqual(events.filter(({ timestamp }) => timestamp >= '2026-01-20'))
})

test('they are in the order of time, each within its day, none after the present', () => {
  let last = start.toISOString()
  for (const day of generateEvents({ start, from: start, until })) {
    expect(new Set(day.map(({ timestamp }) => timestamp.slice(0, 10))).size).toBe(1)
    for (const { timestamp } of day) {
      if (timestamp < last) throw new Error(`${timestamp} comes after ${last}`)
      last = timestamp
    }
  }
  expect(last <= until.toISOString()).toBe(true)
  expect(last > '2026-01-25T15:20').toBe(true)
})

test('their ids are unique', () => {
  expect(new Set(events.map((event) => event.event_id)).size).toBe(events.length)
})

describe('they are lively', () => {
  const share = (test: (event: DemoEvent) => boolean): number =>
    events.filter(test).length / events.length

  test.each<[string, number, number, (event: DemoEvent) => boolean]>([
    ['pageviews', 0.8, 0.95, (event) => event['name'] === undefined],
    ['from the United States', 0.2, 0.35, (event) => event['country'] === 'US'],
    ['on phones', 0.4, 0.6, (event) => event['device_type'] === 'mobile'],
    ['anonymous', 0.6, 0.9, (event) => event['anonymous'] === true],
    ['of the evening', 0.3, 0.5, ({ timestamp }) => timestamp.slice(11) >= '16:00'],
  ])('%s: a share of %d to %d', (_what, least, most, which) => {
    expect(share(which)).toBeGreaterThan(least)
    expect(share(which)).toBeLessThan(most)
  })

  test('about half of the visits bounce', () => {
    const sizes = new Map<string, number>()
    for (const { event_id } of events) {
      const visit = event_id.slice(0, event_id.lastIndexOf('-'))
      sizes.set(visit, (sizes.get(visit) ?? 0) + 1)
    }
    const bounces = [...sizes.values()].filter((size) => size === 1).length / sizes.size
    expect(bounces).toBeGreaterThan(0.4)
    expect(bounces).toBeLessThan(0.6)
  })

  test('users come again, sign up and buy', () => {
    const days = new Map<unknown, Set<string>>()
    for (const { user_id, timestamp } of events) {
      days.set(user_id, (days.get(user_id) ?? new Set()).add(timestamp.slice(0, 10)))
    }
    const returning = [...days.values()].filter(({ size }) => size > 1).length / days.size
    expect(returning).toBeGreaterThan(0.15)
    expect(new Set(events.map((event) => event['name']))).toEqual(
      new Set([undefined, 'search', 'add_to_cart', 'signup', 'purchase', 'newsletter']),
    )
  })

  test('nobody is anonymous again after signing up', () => {
    const known = new Set<unknown>()
    for (const { user_id, anonymous } of events) {
      if (anonymous === false) known.add(user_id)
      else if (known.has(user_id)) throw new Error(`${String(user_id)} is anonymous again`)
    }
    expect(known.size).toBeGreaterThan(100)
  })

  test('a year later there are more of them', () => {
    const week = (from: string, until: string): number =>
      eventsOf({ from: at(from), until: at(until) }).length
    const first = week('2026-01-05T00:00:00Z', '2026-01-11T23:59:59Z')
    const later = week('2027-01-04T00:00:00Z', '2027-01-10T23:59:59Z')
    expect(later).toBeGreaterThan(1.5 * first)
  })
})
