/** Events that are much work to load, or that must be refused. */
import { randomBytes } from 'node:crypto'

const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

/** Creates an event of a visitor with a browser; those of bots are not counted. */
export const createEvent = (fields: object): object => ({
  name: 'poison',
  ip: '203.0.113.9',
  user_agent: BROWSER,
  url: 'https://shop.example/',
  ...fields,
})

/** Random texts of 8 characters. */
const createTexts = (count: number): string[] => {
  const all = randomBytes(count * 6).toString('base64url')
  return Array.from({ length: count }, (_, i) => all.slice(i * 8, i * 8 + 8))
}

const createMany = (count: number, make: (n: number) => object): object[] =>
  Array.from({ length: count }, (_, n) => createEvent(make(n)))

const withProperties = (): object => ({
  user_id: 'p1',
  properties: Object.fromEntries(createTexts(64).map((value, i) => [`k${i}`, value])),
})

const withAttributes = (): object => {
  const [user_id, name, utm_source, utm_medium, utm_campaign, utm_content, utm_term] =
    createTexts(7)
  const [browser, os, city, referrer, hash, path] = createTexts(6)
  return {
    ...{ user_id, name, utm_source, utm_medium, utm_campaign, utm_content, utm_term },
    ...{ browser, os, city, referrer, hash, path: `/${path}` },
  }
}

/** A flood: how many requests, and the events of each. */
export interface Flood {
  readonly name: string
  readonly requests: number
  readonly make: () => readonly object[]
}

export const FLOODS: readonly Flood[] = [
  { name: 'nothing', requests: 0, make: () => [] },
  {
    name: '250,000 events, 64 random properties each',
    requests: 417,
    make: () => createMany(600, withProperties),
  },
  {
    name: '250,000 events, 13 random fields each',
    requests: 250,
    make: () => createMany(1_000, withAttributes),
  },
  {
    name: '100,000 events, random user agents',
    requests: 100,
    make: () =>
      createMany(1_000, () => ({
        user_id: 'p2',
        user_agent: createTexts(8).join('').slice(0, 60),
      })),
  },
  {
    name: '2,732 events, one in each month from 1970',
    requests: 4,
    make: () =>
      createMany(683, (n) => ({ timestamp: new Date(Date.UTC(1970, n, 1)).toISOString() })),
  },
  {
    name: '4 events, a user_id of 900 kB',
    requests: 4,
    make: () => createMany(1, () => ({ user_id: 'u'.repeat(900_000) })),
  },
]
