/** Random events of many users, as visits that may be late, repeated, of bots, or cut by the edges of periods. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import type { SentEvent } from '../world/world.js'
import { orderNights } from './night-order.js'
import { rollupEvent } from './rollups.js'

const SECOND = 1_000
const MINUTE = 60_000
const PAUSE = 30 * MINUTE

/** What the projects of these events do not track. */
export const EXCLUDED = {
  ips: ['192.0.2.9', '2001:db8::9'],
  countries: ['KP'],
  botAgents: ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
}
/** The domain of their project, which is no referrer. */
export const DOMAIN = 'example.com'

/** Ends of days, months, years and weeks, and days in between. */
const EDGES = [
  '2023-12-31',
  '2024-01-01',
  '2024-01-15',
  '2024-02-05',
  '2024-02-29',
  '2024-03-01',
  '2024-03-18',
  '2024-04-01',
]
const nearEdge = fc
  .tuple(
    fc.constantFrom(...EDGES),
    fc.integer({ min: -5, max: 5 }),
    fc.constantFrom(0, 0, 1, -1, -SECOND, SECOND, 12_345, 29 * MINUTE),
  )
  .map(([day, halves, off]) => Date.parse(day) + halves * PAUSE + off)
const anyTime = fc.integer({ min: Date.parse('2023-12-20'), max: Date.parse('2024-04-10') })

/** Pauses within a session, and around the longest that one may have. */
const pause = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 10 * MINUTE }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, PAUSE - 1, PAUSE, PAUSE + 1, 3 * PAUSE) },
)

const namedSender = fc
  .constantFrom('u', 'ü', 'U', "it's ", '😀')
  .chain((letter) => fc.integer({ min: 1, max: 60 }).map((n) => ({ user_id: `${letter}${n}` })))
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15'
/** A text that is cut. */
const LONG = 'é'.repeat(1_030)
/** Attributes are given where there is a user agent, so that none is derived from it. */
const agent = fc.record({
  user_agent: fc.constantFrom(FIREFOX, SAFARI, `${FIREFOX} ${LONG}1`, `${FIREFOX} ${LONG}2`),
  browser: fc.constantFrom('Firefox', 'Safari', '😀'),
  os: fc.constantFrom('Linux', 'macOS'),
  device_type: fc.constantFrom('desktop', 'mobile'),
})
const address = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 10, max: 60 }).map((n) => `192.0.2.${n}`) },
  { weight: 3, arbitrary: fc.constantFrom('2001:db8::3', '2001:db8::4') },
  { weight: 1, arbitrary: fc.constantFrom(...EXCLUDED.ips) },
)
const derivedSender = fc
  .tuple(fc.record({ ip: address }, { requiredKeys: [] }), fc.option(agent, { nil: {} }))
  .map(([ip, agents]) => ({ user_id: null, ...ip, ...agents }))
const bot = fc.oneof(namedSender, derivedSender).map((sender) => ({
  ...sender,
  user_agent: EXCLUDED.botAgents[0]!,
}))
const sender: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
  { weight: 12, arbitrary: namedSender },
  { weight: 6, arbitrary: derivedSender },
  { weight: 1, arbitrary: bot },
)

/** The type of the referrer is derived, of sources that no list knows. */
const NO_SOURCE = { referrer: null, referrer_type: null, utm_source: null, utm_medium: null }

/** Numbers in many forms, and texts that are none. */
const AMOUNTS = [
  ...[
    0.1,
    0.2,
    '0.3',
    19.99,
    '19.99',
    100,
    '1e3',
    '-5.5',
    '-0',
    1e-7,
    '2.5E-3',
    0.30000000000000004,
  ],
  ...['0.1234567885', '999999999999999999.999999999', '12345678901234.56', '0.0000000004', '1e17'],
  ...['1e18', '007', ' 1', '1,5', '.5', '5.', '+1', 'NaN', '1e400', '', '0x10', 'ten', true, '٣'],
]
const purchase = fc
  .record({
    name: fc.constantFrom('purchase', 'pageview'),
    amount: fc.constantFrom(...AMOUNTS),
    currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'USD', ''),
    plan: fc.constantFrom('pro', 'free'),
  })
  .map(({ name, ...properties }) => ({ name, properties }))

/** Fields that `rollupEvent` does not have, or has in other forms. */
const extras = fc.oneof(
  { weight: 12, arbitrary: fc.constant({}) },
  {
    weight: 6,
    arbitrary: fc.record(
      {
        utm_medium: fc.constantFrom('', 'a', 'é', 'b'),
        utm_content: fc.constantFrom('', 'a', '%', 'b'),
        utm_term: fc.constantFrom('', 'a', '_', '😀'),
        hash: fc.constantFrom('', 'a', '😀'),
      },
      { requiredKeys: [] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { name: null, anonymous: null },
      { country: 'KP' },
      { city: LONG, path: `/${LONG}`, utm_campaign: LONG },
      { session_id: null, origin: null, properties: null },
      { ...NO_SOURCE, referrer_url: 'https://www.example.com/own' },
      { ...NO_SOURCE, referrer_url: 'https://EXAMPLE.com' },
    ),
  },
  { weight: 6, arbitrary: purchase },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(null, '', 0, -1.5, true, [], [1, 'a', { b: null }], { a: { é: '"' } }, LONG)
      .map((plan) => ({ properties: { plan, 'a.b': plan } })),
  },
)

const visit = fc.record({
  sender,
  start: fc.oneof(nearEdge, anyTime),
  sessionId: fc.constantFrom('', '', '', '', '', '', 's', 'ß'),
  steps: fc.array(
    fc.record({
      pause,
      event: rollupEvent,
      extra: extras,
      /** An id, of few: some come again with other fields. */
      id: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.nat(9)),
      /** How many places later the event arrives, and whether it arrives once more. */
      delay: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.nat(3_000)),
      isRepeated: fc.nat(20).map((n) => n === 0),
    }),
    { minLength: 1, maxLength: 6, size: 'max' },
  ),
})

type Visit = typeof visit extends fc.Arbitrary<infer One> ? One : never

/** The events of visits in the order of their arrival. */
function arrive(visits: readonly Visit[]): readonly SentEvent[] {
  const arrivals = visits.flatMap(({ sender, start, sessionId, steps }, nth) => {
    let at = start
    return steps.flatMap((step, i) => {
      if (i > 0) at += step.pause
      const place = nth * 3 + i + step.delay
      const event = {
        ...step.event,
        session_id: sessionId,
        ...step.extra,
        ...sender,
        // Ids are those of their sender, because other senders may be on other shards.
        event_id: step.id === undefined ? '' : `${nameSender(sender)} ${step.id}`,
        timestamp: formatTime(at, step.delay),
      }
      return [
        { place, event },
        ...(step.isRepeated && step.id !== undefined ? [{ place: place + 500, event }] : []),
      ]
    })
  })
  return orderNights(arrivals)
    .sort((a, b) => a.place - b.place)
    .map(({ event }) => event)
}

/** A short name of a sender. */
const nameSender = (one: object): string =>
  createHash('sha256').update(JSON.stringify(one)).digest('hex').slice(0, 12)

/** Writes a moment in one of the forms of ISO 8601. */
function formatTime(at: number, pick: number): string {
  const utc = new Date(at).toISOString()
  if (pick % 3 === 1) return utc.replace('Z', '999Z')
  if (pick % 3 === 2) return new Date(at + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30')
  return utc
}

/** Events of this number of visits. */
export const createVisits = (count: number): fc.Arbitrary<readonly SentEvent[]> =>
  fc.noBias(fc.array(visit, { minLength: count, maxLength: count, size: 'max' })).map(arrive)
