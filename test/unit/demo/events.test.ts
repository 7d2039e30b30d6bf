/** The events of the demo: reproducible, in order of time, and realistic. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import { generateEvents, type DemoPeriod } from '../../../src/demo/events.js'
import { findLaunch } from '../../../src/demo/launches.js'
import { toDayNumber } from '../../../src/demo/traffic.js'
import type { DemoEvent } from '../../../src/demo/visit.js'
import { addDays } from '../../../src/lib/time.js'

const at = (text: string): Date => new Date(text)
const start = at('2026-01-01T00:00:00Z')
const until = at('2026-01-25T15:30:00Z')
const listEvents = (period: Partial<DemoPeriod> = {}): readonly DemoEvent[] =>
  [...generateEvents({ start, from: start, until, ...period })].flat()

let events: readonly DemoEvent[]
beforeAll(() => {
  events = listEvents()
})

test('the same period gives the same events', () => {
  const later = { from: at('2026-01-20T11:00:00Z') }
  expect(listEvents(later)).toEqual(listEvents(later))
})

test('a later run continues where an earlier one ended, and changes no event', () => {
  const noon = at('2026-01-20T12:00:00Z')
  const before = listEvents({ until: noon })
  expect(before).toEqual(events.filter(({ timestamp }) => timestamp <= noon.toISOString()))
  const after = listEvents({ from: noon })
  expect(after).toEqual(events.filter(({ timestamp }) => timestamp >= '2026-01-20'))
})

test('events are in order of time, each in the list of its day, none after the end', () => {
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

test('ids are unique', () => {
  expect(new Set(events.map((event) => event.event_id)).size).toBe(events.length)
})

describe('events are realistic', () => {
  const share = (test: (event: DemoEvent) => boolean): number =>
    events.filter(test).length / events.length

  test.each<[string, number, number, (event: DemoEvent) => boolean]>([
    ['pageviews', 0.8, 0.95, (event) => event['name'] === undefined],
    ['events from the United States', 0.2, 0.35, (event) => event['country'] === 'US'],
    ['events on phones', 0.4, 0.6, (event) => event['device_type'] === 'mobile'],
    ['anonymous events', 0.6, 0.9, (event) => event['anonymous'] === true],
    ['in the evening', 0.3, 0.5, ({ timestamp }) => timestamp.slice(11) >= '16:00'],
  ])('%s: a share of %d to %d', (_what, least, most, which) => {
    expect(share(which)).toBeGreaterThan(least)
    expect(share(which)).toBeLessThan(most)
  })

  test('about half of the visits bounce', () => {
    const sizes = new Map<string, number>()
    for (const { event_id, name } of events) {
      if (name === 'pageleave') continue
      const visit = event_id.slice(0, event_id.lastIndexOf('-'))
      sizes.set(visit, (sizes.get(visit) ?? 0) + 1)
    }
    const bounces = [...sizes.values()].filter((size) => size === 1).length / sizes.size
    expect(bounces).toBeGreaterThan(0.4)
    expect(bounces).toBeLessThan(0.6)
  })

  test('some pageviews say what they measured: slower on phones, on some pages, and longer on articles', () => {
    const leaves = events.filter(({ name }) => name === 'pageleave')
    const views = events.filter(({ name }) => name === undefined).length
    expect(leaves.length / views).toBeGreaterThan(0.03)
    expect(leaves.length / views).toBeLessThan(0.07)
    const list = (property: string, which: (event: DemoEvent) => boolean): readonly number[] =>
      leaves
        .filter(which)
        .map(({ properties }) => (properties as Record<string, number>)[property])
        .filter((value) => value !== undefined)
        .sort((a, b) => a - b)
    const isOn = (device: string) => (event: DemoEvent) => event['device_type'] === device
    const isAt = (path: string) => (event: DemoEvent) => String(event['url']).includes(path)
    const p75 = (values: readonly number[]): number => values[Math.ceil(0.75 * values.length) - 1]!
    expect(p75(list('lcp', isOn('mobile')))).toBeGreaterThan(
      1.2 * p75(list('lcp', isOn('desktop'))),
    )
    expect(p75(list('lcp', isAt('/products/')))).toBeGreaterThan(p75(list('lcp', isAt('/blog/'))))
    const mean = (values: readonly number[]): number =>
      values.reduce((sum, value) => sum + value, 0) / values.length
    expect(mean(list('engaged_seconds', isAt('/blog/')))).toBeGreaterThan(
      mean(list('engaged_seconds', isAt('/products/'))),
    )
    const all = () => true
    expect(list('ttfb', all).length).toBe(leaves.length)
    expect(list('inp', all).length).toBeLessThan(leaves.length)
    expect(list('scroll_percent', all).at(-1)).toBe(100)
    for (const { properties } of leaves) {
      const { ttfb, fcp, lcp, cls } = properties as Record<string, number>
      expect(ttfb! <= fcp! && fcp! <= lcp! && cls! >= 0).toBe(true)
    }
  })

  test('some users return, sign up and buy', () => {
    const days = new Map<unknown, Set<string>>()
    for (const { user_id, timestamp } of events) {
      days.set(user_id, (days.get(user_id) ?? new Set()).add(timestamp.slice(0, 10)))
    }
    const returning = [...days.values()].filter(({ size }) => size > 1).length / days.size
    expect(returning).toBeGreaterThan(0.15)
    expect(new Set(events.map((event) => event['name']))).toEqual(
      new Set([
        undefined,
        'search',
        'add_to_cart',
        'signup_start',
        'signup',
        'purchase',
        'newsletter',
        'pageleave',
      ]),
    )
  })

  test('some users have another id each day, and some members two devices', () => {
    const devices = new Map<unknown, Set<string>>()
    const days = new Map<unknown, Set<string>>()
    for (const { user_id, timestamp, browser, os, device_type } of events) {
      const device = `${String(browser)} ${String(os)} ${String(device_type)}`
      devices.set(user_id, (devices.get(user_id) ?? new Set()).add(device))
      days.set(user_id, (days.get(user_id) ?? new Set()).add(timestamp.slice(0, 10)))
    }
    const ids = [...days.keys()].map(String)
    const daily = ids.filter((id) => id.includes('-'))
    expect(daily.length / ids.length).toBeGreaterThan(0.2)
    expect(daily.length / ids.length).toBeLessThan(0.4)
    // A visit that lasts over midnight keeps the id of its first day.
    const ofOtherDays = daily.filter((id) => [...days.get(id)!].sort()[0] !== id.slice(-10))
    expect(ofOtherDays).toEqual([])
    const both = [...devices.values()].filter(({ size }) => size > 1).length
    expect([...devices.values()].filter(({ size }) => size > 2)).toEqual([])
    expect(both / ids.length).toBeGreaterThan(0.002)
    expect(both / ids.length).toBeLessThan(0.03)
  })

  test('fewer users complete each step of signing up', () => {
    const countUsers = (isStep: (event: DemoEvent) => boolean): number =>
      new Set(events.filter(isStep).map((event) => event['user_id'])).size
    const users = [
      countUsers(({ url }) => url === 'https://shop.example/membership'),
      countUsers(({ url }) => url === 'https://shop.example/signup'),
      countUsers(({ name }) => name === 'signup_start'),
      countUsers(({ name }) => name === 'signup'),
    ]
    for (const [i, count] of users.slice(1).entries()) expect(count).toBeLessThan(users[i]!)
  })

  test.each<[string, RegExp, number]>([
    ['language', /^[a-z]{2}(-[A-Z]{2})?$/, 12],
    ['region', /^[A-Z]{2}-[A-Z0-9]{1,3}$|^$/, 20],
  ])('all events have a %s, as the collector derives it', (field, form, least) => {
    const values = new Set(events.map((event) => String(event[field])))
    expect([...values].filter((value) => !form.test(value))).toEqual([])
    expect(values.size).toBeGreaterThan(least)
  })

  test('visits come by every channel, those of Other among them', () => {
    const types = new Set(events.map((event) => event['referrer_type']))
    expect([...types].sort()).toEqual([
      'email',
      'llm',
      'paid',
      'search',
      'social',
      'unknown',
      undefined,
    ])
    for (const medium of ['qr', 'affiliate', 'cpc', 'paid-social', 'email']) {
      expect(events.some(({ url }) => String(url).includes(`utm_medium=${medium}`))).toBe(true)
    }
  })

  test('the day of a launch has twice the visits of the Tuesday before, some by its campaign', () => {
    const day = (date: string): readonly DemoEvent[] =>
      listEvents({ from: at(`${date}T00:00:00Z`), until: at(`${date}T23:59:59Z`) })
    const [before, launch] = [day('2026-03-03'), day('2026-03-10')]
    const isOfLaunch = ({ url }: DemoEvent): boolean =>
      String(url).includes('utm_campaign=launch-march')
    expect(launch.length).toBeGreaterThan(1.7 * before.length)
    expect(before.some(isOfLaunch)).toBe(false)
    expect(launch.some(isOfLaunch)).toBe(true)
    expect(day('2026-03-20').some(isOfLaunch)).toBe(false)
  })

  test('each month has a launch on its second Tuesday', () => {
    const first = at('2026-01-01T00:00:00Z')
    const days = Array.from({ length: 365 }, (_, i) => addDays(first, i))
    const begun = days.filter((day, i) => {
      const campaign = findLaunch(toDayNumber(day))?.campaign
      return campaign !== undefined && campaign !== findLaunch(toDayNumber(days[i - 1]!))?.campaign
    })
    expect(begun.map((day) => [day.getUTCMonth(), day.getUTCDay()])).toEqual(
      Array.from({ length: 12 }, (_, month) => [month, 2]),
    )
    expect(begun.filter((day) => day.getUTCDate() < 8 || day.getUTCDate() > 14)).toEqual([])
  })

  test('users are not anonymous after signing up', () => {
    const known = new Set<unknown>()
    for (const { user_id, anonymous } of events) {
      if (anonymous === false) known.add(user_id)
      else if (known.has(user_id)) throw new Error(`${String(user_id)} is anonymous again`)
    }
    expect(known.size).toBeGreaterThan(100)
  })

  test('a year later there are more events', () => {
    const week = (from: string, until: string): number =>
      listEvents({ from: at(from), until: at(until) }).length
    const first = week('2026-01-05T00:00:00Z', '2026-01-11T23:59:59Z')
    const later = week('2027-01-04T00:00:00Z', '2027-01-10T23:59:59Z')
    expect(later).toBeGreaterThan(1.5 * first)
  })
})
