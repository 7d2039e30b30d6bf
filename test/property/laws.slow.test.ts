/** The laws of query responses, on random events and queries and a real engine. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isInterval, resolveGranularity } from '../../src/analytics/request/intervals.js'
import { resolvePeriod, formatMoment } from '../../src/analytics/request/period.js'
import { GRANULARITIES } from '../../src/model/granularities.js'
import type {
  AnalyticsQueryResponse,
  Filter,
  Dimension,
  GroupBy,
  Interval,
  Row,
} from '../../src/contract/api.js'
import type { StoredProject } from '../../src/projects/project.js'
import { INTERVALS, METRICS, event, filter, request } from '../support/arbitrary/world.js'
import { isSeries, withoutThenBy } from '../support/arbitrary/then-by.js'
import { scaled } from '../support/effort.js'
import { withDatabase } from '../support/store/database.js'
import { listZoneBuckets, type ZoneBucket } from '../support/world/zones.js'
import {
  runQuery,
  createWorld,
  newProject,
  NOW,
  send,
  type PartialRequest,
  type SentEvent,
} from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
/** The number of worlds, and of queries to each. */
const WORLDS = scaled(1)
const QUESTIONS = scaled(5)

interface World {
  readonly project: StoredProject
  readonly events: readonly SentEvent[]
}

const database = withDatabase()
let worlds: readonly World[] = []

beforeAll(async () => {
  const all: World[] = []
  const batch = fc.array(event, { minLength: 5, maxLength: 60, size: 'max' })
  const batches = fc.array(batch, { minLength: 1, maxLength: 4, size: 'max' })
  for (const sent of fc.sample(batches, { seed: SEED, numRuns: WORLDS })) {
    const project = await newProject(database.store)
    for (const events of sent) await send(database.store, project, events)
    all.push({ project, events: sent.flat() })
  }
  worlds = all
})

const put = ({ project }: World, asked: PartialRequest): Promise<AnalyticsQueryResponse> =>
  runQuery(database.store, project, asked)
const world = fc.nat().map((n) => worlds[n % worlds.length]!)

/** Checks a property of worlds and queries. */
const holds = <T>(given: fc.Arbitrary<T>, law: (world: World, given: T) => Promise<void>) =>
  fc.assert(fc.asyncProperty(world, given, law), {
    seed: SEED,
    numRuns: WORLDS * QUESTIONS,
    endOnFailure: false,
  })

const periodOf = ({ date_range: range, time_zone: zone }: PartialRequest) =>
  resolvePeriod(range, NOW, NOW, zone)

function bucketsOf(asked: PartialRequest, interval: Interval): readonly ZoneBucket[] {
  const { start, end } = periodOf(asked)
  const { time_zone: zone } = asked
  if (zone !== undefined) {
    const size = resolveGranularity(interval, { start, end })
    return listZoneBuckets(zone, size, start.getTime(), end.getTime())
  }
  const { toBucket, toStart } = GRANULARITIES[resolveGranularity(interval, { start, end })]
  const first = toBucket(start)
  const count = toBucket(new Date(end.getTime() - 1_000)) - first + 1
  return Array.from({ length: count }, (_, i) => toStart(first + i)).map((from) => ({
    from: from.getTime(),
    label: formatMoment(from),
  }))
}

/** Requests for monthly series of whole months. */
const thenByRequest = fc
  .tuple(
    request.filter(({ then_by }) => then_by?.length === 1),
    fc.nat(5),
  )
  .map(([{ then_by, filters, filtersOperator: _ }, months]): PartialRequest => ({
    date_range: ['2024-02-01', formatMoment(new Date(Date.UTC(2024, 6 + months) - 1_000))],
    metrics: METRICS,
    group_by: ['interval:month'],
    then_by: then_by!,
    group_limit: 3,
    filters: filters ?? [],
    limit: 1000,
  }))

/** All events of a world, and the buckets that a response can have of them. */
const HISTORY = ['2023-06-01', '2025-12-31'] as const
const BUCKETS = [
  'interval:day',
  'interval:week',
  'interval:month',
  'interval:quarter',
  'interval:year',
] as const
/** Moments among them. */
const moment = fc
  .integer({ min: Date.parse('2024-02-28') / 1_000, max: Date.parse('2025-01-02') / 1_000 })
  .map((seconds) => new Date(seconds * 1_000))

/** Adds up buckets of a clock to coarser ones. @param minutes how many minutes of an hour a coarser one has */
function addUp(buckets: ReadonlyMap<string, number>, minutes: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const [label, count] of buckets) {
    const start = Math.floor(Number(label.slice(14, 16)) / minutes) * minutes
    const coarser = `${label.slice(0, 14)}${String(start).padStart(2, '0')}${label.slice(16)}`
    sums.set(coarser, (sums.get(coarser) ?? 0) + count)
  }
  return sums
}

describe('laws', () => {
  test('totals: they are the row of the same query without grouping', () =>
    holds(request, async (world, asked) => {
      const { totals, query } = await put(world, { ...asked, include: { totals: true } })
      const plain = withoutThenBy(asked)
      const whole = await put(world, { ...plain, group_by: [], order_by: [], offset: 0 })
      expect(totals).toEqual({ metrics: whole.data[0]!.metrics })
      expect(query.include).toEqual({ totals: true })
    }))

  test('new users: over all buckets they add up to the users of the whole history', () =>
    holds(fc.tuple(fc.constantFrom(...BUCKETS), moment), async (world, [token, cut]) => {
      const count = async (
        date_range: readonly [string, string],
        group_by: readonly GroupBy[] = [],
      ): Promise<number> => {
        const metrics = ['new_users'] as const
        const { data } = await put(world, { date_range, metrics, group_by, limit: 1000 })
        return data.reduce((sum, row) => sum + row.metrics.new_users!, 0)
      }
      const { data } = await put(world, { date_range: HISTORY, metrics: ['users'] })
      const users = data[0]!.metrics.users!
      expect(users).toBeGreaterThan(0)
      expect(await count(HISTORY, [token])).toBe(users)
      const before = await count([HISTORY[0], formatMoment(cut)])
      const after = new Date(cut.getTime() + 1_000)
      expect(before + (await count([formatMoment(after), HISTORY[1]]))).toBe(users)
    }))

  test('invariance: a metric has the same value alone and with other metrics', () =>
    holds(request, async (world, asked) => {
      // The first metric decides which groups have a series.
      const first = isSeries(asked) && asked.then_by !== undefined ? METRICS.slice(0, 1) : []
      const whole = { ...asked, metrics: METRICS, order_by: [], limit: 1000, offset: 0 }
      const together = await put(world, whole)
      const byGroup = new Map(together.data.map((row) => [JSON.stringify(row.group), row.metrics]))
      for (const metric of METRICS) {
        const alone = await put(world, {
          ...whole,
          metrics: [...new Set([...first, metric])],
        })
        expect(alone.pagination.total).toBe(together.pagination.total)
        for (const { group, metrics } of alone.data) {
          expect(metrics[metric]).toBe(byGroup.get(JSON.stringify(group))?.[metric])
        }
      }
    }))

  test('complement: an operator and its negation split the events', () =>
    holds(fc.tuple(filter, request), async (world, [one, asked]) => {
      const twin = negated(one)
      fc.pre(twin !== undefined)
      const count = async (filters: readonly Filter[]): Promise<number[]> => {
        const { data } = await put(world, {
          date_range: asked.date_range,
          metrics: ['pageviews', 'events'],
          filters,
        })
        return [data[0]!.metrics.pageviews!, data[0]!.metrics.events!]
      }
      const [whole, part, rest] = await Promise.all([count([]), count([twin[0]]), count([twin[1]])])
      expect(part.map((n, i) => n + rest[i]!)).toEqual(whole)
    }))

  test('groups: a negation is the complement, and nested groups are sets', () =>
    holds(fc.tuple(filter, filter, request), async (world, [one, other, asked]) => {
      const count = async (...filters: readonly Filter[]): Promise<number[]> => {
        const { data } = await put(world, {
          date_range: asked.date_range,
          metrics: ['pageviews', 'events'],
          filters,
        })
        return [data[0]!.metrics.pageviews!, data[0]!.metrics.events!]
      }
      const either: Filter = { type: 'group', operator: 'or', filters: [one, other] }
      const both: Filter = { type: 'group', operator: 'and', filters: [one, other] }
      const [whole, ofOne, ofOther, ofEither, ofBoth, ofNeither, ofFlat] = await Promise.all([
        count(),
        count(one),
        count(other),
        count(either),
        count(both),
        count(negate(negate(negate(either)))),
        count(one, other),
      ])
      const sum = (...parts: readonly number[][]) =>
        whole.map((_, i) => parts.reduce((total, part) => total + part[i]!, 0))
      expect(sum(ofEither, ofNeither)).toEqual(whole)
      expect(sum(ofEither, ofBoth)).toEqual(sum(ofOne, ofOther))
      expect(ofFlat).toEqual(ofBoth)
      const rest = await count(negate(one, other))
      expect(sum(ofBoth, rest)).toEqual(whole)
    }))

  test('partition: pages of any size together are the whole response', () =>
    holds(fc.tuple(request, fc.integer({ min: 1, max: 4 })), async (world, [given, limit]) => {
      const asked = fixGroups(given)
      const whole = await put(world, { ...asked, limit: 1000, offset: 0 })
      const rows: Row[] = []
      for (let offset = 0; offset < Math.min(whole.data.length, 12); offset += limit) {
        rows.push(...(await put(world, { ...asked, limit, offset })).data)
      }
      expect(rows).toEqual(whole.data.slice(0, rows.length))
      const past = await put(world, { ...asked, limit, offset: whole.pagination.total + 1 })
      expect(past.data).toEqual([])
      expect(past.pagination.total).toBe(whole.pagination.total)
    }))

  test('tiling: buckets cover the period without gaps, and their counts add up to the total', () =>
    holds(fc.tuple(request, fc.constantFrom(...INTERVALS)), async (world, [asked, interval]) => {
      const buckets = bucketsOf(asked, interval)
      fc.pre(buckets.length <= 1000)
      const plain = withoutThenBy(asked)
      const series = await put(world, {
        ...plain,
        group_by: [interval],
        order_by: [],
        metrics: METRICS,
        limit: 1000,
        offset: 0,
      })
      const total = await put(world, {
        ...plain,
        group_by: [],
        order_by: [],
        metrics: METRICS,
        offset: 0,
      })
      expect(series.data.map(({ group }) => group['date'])).toEqual(
        buckets.map(({ label }) => label),
      )
      for (const metric of ['pageviews', 'events', 'visits'] as const) {
        const sum = series.data.reduce((n, { metrics }) => n + metrics[metric]!, 0)
        expect(sum).toBe(total.data[0]!.metrics[metric])
      }
    }))

  test('finer buckets: minutes add up to 15 minutes, and these to hours', () =>
    holds(fc.tuple(moment, fc.constantFrom('UTC', 'Asia/Kathmandu')), async (world, [at, zone]) => {
      const date = at.toISOString().slice(0, 10)
      const count = async (interval: Interval): Promise<ReadonlyMap<string, number>> => {
        const pages = [0, 1000].map((offset) => ({
          date_range: [date, date] as const,
          time_zone: zone,
          metrics: ['pageviews'] as const,
          group_by: [interval],
          limit: 1000,
          offset,
        }))
        const rows = (await Promise.all(pages.map((page) => put(world, page)))).flatMap(
          ({ data }) => data,
        )
        return new Map(rows.map(({ group, metrics }) => [group['date']!, metrics.pageviews!]))
      }
      const [minutes, quarters, hours] = await Promise.all([
        count('interval:minute'),
        count('interval:15minutes'),
        count('interval:hour'),
      ])
      expect([minutes.size, quarters.size, hours.size]).toEqual([1_440, 96, 24])
      expect(addUp(minutes, 15)).toEqual(quarters)
      expect(addUp(quarters, 60)).toEqual(hours)
    }))

  test('round trip: filtering by a returned group returns that group', () =>
    holds(request, async (world, asked) => {
      const [token] = asked.group_by ?? []
      fc.pre(asked.filtersOperator !== 'or')
      if (token === undefined || isInterval(token)) return
      const whole = { ...asked, order_by: [], limit: 1000, offset: 0 }
      for (const row of (await put(world, whole)).data.slice(0, 3)) {
        const tokens = [token, ...(asked.then_by ?? [])]
        const back = tokens.map((one) => byGroup(one, row.group[one]!))
        const again = await put(world, { ...whole, filters: [...(asked.filters ?? []), ...back] })
        const isSame = ({ group }: Row): boolean =>
          tokens.every((one) => group[one] === row.group[one])
        expect(again.data.filter(isSame)).toEqual([row])
      }
    }))

  test('second grouping: series are those of the filtered query, and their buckets the breakdown of a part of the period', () =>
    holds(fc.tuple(thenByRequest, fc.nat()), async (world, [asked, pick]) => {
      const second = asked.then_by![0]!
      const { data } = await put(world, asked)
      const values = [...new Set(data.map(({ group }) => group[second]!))]
      expect(data).toHaveLength(values.length * bucketsOf(asked, 'interval:month').length)
      if (values.length === 0) return
      const value = values[pick % values.length]!
      const plain = withoutThenBy(asked)
      const filtered = await put(world, {
        ...plain,
        filters: [...(asked.filters ?? []), byGroup(second, value)],
      })
      const isOfVisits = !second.startsWith('page:') && !second.startsWith('event:')
      const compared = isOfVisits
        ? METRICS
        : (['users', 'pageviews', 'events', 'new_users'] as const)
      const numbers = ({ metrics }: Row) => compared.map((metric) => metrics[metric])
      expect(data.filter(({ group }) => group[second] === value).map(numbers)).toEqual(
        filtered.data.map(numbers),
      )
      const { date } = data[pick % data.length]!.group
      const first = new Date(date!)
      const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1) - 1_000)
      const breakdown = await put(world, {
        ...plain,
        date_range: [formatMoment(first), formatMoment(last)],
        group_by: [second],
      })
      const byValue = new Map(breakdown.data.map((row) => [row.group[second], row.metrics]))
      for (const { group, metrics } of data.filter((row) => row.group['date'] === date)) {
        const { users, pageviews, events } = metrics
        const none = { ...metrics, users: 0, pageviews: 0, events: 0 }
        expect({ ...metrics, users, pageviews, events }).toEqual(byValue.get(group[second]) ?? none)
      }
    }))

  test('tenancy: events of another project change no response', async () => {
    const [first] = worlds
    const asked = fc.sample(request, { seed: SEED, numRuns: 40 })
    const before = await Promise.all(asked.map((one) => put(first!, one)))
    await createWorld(database.store, [...first!.events, ...worlds.at(-1)!.events])
    const after = await Promise.all(asked.map((one) => put(first!, one)))
    expect(after).toEqual(before)
  })
})

/** Fixes how many groups have a series, which otherwise depends on the limit. */
const fixGroups = (asked: PartialRequest): PartialRequest =>
  isSeries(asked) && asked.then_by !== undefined ? { ...asked, group_limit: 2 } : asked

const OPPOSITE = {
  eq: 'notEq',
  notEq: 'eq',
  contains: 'notContains',
  notContains: 'contains',
  matches: 'notMatches',
  notMatches: 'matches',
  oneOf: 'noneOf',
  noneOf: 'oneOf',
} as const

/** A group that negates a filter. */
const negate = (...filters: readonly Filter[]): Filter => ({
  type: 'group',
  operator: 'not',
  filters,
})

/** A filter of one clause and its complement, if there is an operator for it. */
function negated(one: Filter): readonly [Filter, Filter] | undefined {
  if (!('type' in one)) return [one, negate(one)]
  if (one.type === 'user') return [one, { ...one, anonymous: !one.anonymous }]
  if ('operator' in one) {
    const operator = OPPOSITE[one.operator as keyof typeof OPPOSITE] as string | undefined
    return operator === undefined ? undefined : [one, { ...one, operator } as Filter]
  }
  for (const [member, clause] of Object.entries(one)) {
    if (typeof clause === 'string') continue
    const [single] = (Array.isArray(clause) ? clause : [clause]) as {
      operator: keyof typeof OPPOSITE
    }[]
    const operator = single && OPPOSITE[single.operator]
    if (operator === undefined) continue
    const wrap = (value: unknown) =>
      ({ type: one.type, [member]: Array.isArray(clause) ? [value] : value }) as Filter
    return [wrap(single), wrap({ ...single, operator })]
  }
  return undefined
}

/** The filter that selects a group. */
const byGroup = (token: Exclude<GroupBy, Interval>, value: string): Filter => ({
  ...(token.startsWith('event:prop:')
    ? { property: token.slice(11) }
    : { field: token as Dimension }),
  operator: 'is',
  value: [value],
})
