/** Traffic of a site that several tools counted, and its numbers: counted here from the visits, not from any export. */
import fc from 'fast-check'

export interface Action {
  /** Seconds since the visit began. */
  readonly after: number
  readonly path: string
  /** Undefined for a pageview. */
  readonly event: { readonly name: string; readonly plan: string } | undefined
}

export interface Visit {
  readonly id: number
  readonly visitor: number
  /** Unix time in seconds. */
  readonly start: number
  readonly country: keyof typeof COUNTRIES
  readonly browser: keyof typeof BROWSERS
  readonly campaign: string
  readonly actions: readonly Action[]
}

/** How GA4 writes a country. */
export const COUNTRIES = {
  DE: 'Germany',
  US: 'United States',
  CI: 'Côte d’Ivoire',
  HK: 'Hong Kong',
  TR: 'Türkiye',
} as const

/** How the tools write a browser. */
export const BROWSERS = {
  Chrome: { umami: 'crios', matomo: 'Chrome Mobile', ga4: 'Chrome' },
  Safari: { umami: 'ios', matomo: 'Mobile Safari', ga4: 'Safari (in-app)' },
  Edge: { umami: 'edge-chromium', matomo: 'Microsoft Edge', ga4: 'Edge' },
  Vivaldi: { umami: 'Vivaldi', matomo: 'Vivaldi', ga4: 'Vivaldi' },
} as const

const START = Date.UTC(2026, 2, 2) / 1_000
const HOUR = 3_600

const action: fc.Arbitrary<Action> = fc.record({
  after: fc.integer({ min: 0, max: 1_500 }),
  path: fc.constantFrom('/', '/pricing', '/blog/a "quoted", title', '/größe'),
  event: fc.option(
    fc.record({
      name: fc.constantFrom('signup', 'Add to cart'),
      plan: fc.constantFrom('pro', 'free, for "ever"'),
    }),
    { nil: undefined, freq: 2 },
  ),
})

const visit = fc.record({
  visitor: fc.integer({ min: 0, max: 40 }),
  country: fc.constantFrom(...(Object.keys(COUNTRIES) as (keyof typeof COUNTRIES)[])),
  browser: fc.constantFrom(...(Object.keys(BROWSERS) as (keyof typeof BROWSERS)[])),
  campaign: fc.constantFrom('', '', 'spring'),
  actions: fc
    .array(action, { minLength: 1, maxLength: 6 })
    .map((actions) => actions.toSorted((a, b) => a.after - b.after)),
})

/** Creates visits that begin an hour apart, so that none of a visitor overlap. */
export const createTraffic = (seed: number): readonly Visit[] =>
  fc
    .sample(visit, { seed, numRuns: 200 })
    .map((one, id) => ({ ...one, id, start: START + id * HOUR }))

interface Counts {
  readonly users: number
  readonly visits: number
  readonly pageviews: number
  readonly events: number
}

/** Counts what a query returns for some visits; a visit is one with a pageview. */
export function countVisits(visits: readonly Visit[]): Counts {
  const actions = visits.flatMap((one) => one.actions)
  const events = actions.filter(({ event }) => event !== undefined).length
  return {
    users: new Set(visits.map(({ visitor }) => visitor)).size,
    visits: visits.filter((one) => one.actions.some(({ event }) => event === undefined)).length,
    pageviews: actions.length - events,
    events,
  }
}

/** Counts by a value of each visit. */
export function countBy(
  visits: readonly Visit[],
  read: (visit: Visit) => string,
): ReadonlyMap<string, Counts> {
  const values = new Set(visits.map(read))
  return new Map(
    [...values].map((value) => [value, countVisits(visits.filter((one) => read(one) === value))]),
  )
}

/** The pageviews of each path. */
export function countPaths(visits: readonly Visit[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { path, event } of visits.flatMap(({ actions }) => actions)) {
    if (event === undefined) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  return counts
}
