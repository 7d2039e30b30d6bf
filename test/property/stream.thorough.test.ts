/** The law of the stream: events in order give the same sessions one by one as in one import. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { withDatabase } from '../support/store/database.js'
import {
  expectConsistentFacts,
  listLeftovers,
  nameDerivedUsers,
  readFacts,
} from '../support/store/facts.js'
import { feed, loadInbox } from '../support/store/stream.js'
import { newProject, send, type SentEvent } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
/** The number of worlds; each is loaded in many inserts and loads. */
const WORLDS = 1
const EVENTS = 120

const MINUTE = 60_000
const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Googlebot/2.1',
]

/** An event, its pause after the previous event of any user, and whether an insert or a load follows it. */
const step = fc.record({
  pause: fc.constantFrom(1, 1_000, MINUTE, 5 * MINUTE, 30 * MINUTE, 30 * MINUTE + 1, 50 * MINUTE),
  then: fc.constantFrom('', '', 'insert', 'insert', 'load'),
  fields: fc.record(
    {
      // Without an id, a user is derived.
      user_id: fc.constantFrom('a', 'a', 'b', 'c', '', '', '', ''),
      event_id: fc.constantFrom('', '', '', ...Array.from({ length: 20 }, (_, n) => `e${n}`)),
      name: fc.constantFrom('pageview', 'pageview', 'signup'),
      session_id: fc.constantFrom('', '', '', 's'),
      url: fc.constantFrom('https://example.com/a', 'https://example.com/b?utm_source=mail', ''),
      referrer_url: fc.constantFrom('', 'https://www.google.com/', 'https://news.example.org/x'),
      user_agent: fc.constantFrom('', ...AGENTS),
      country: fc.constantFrom('', 'DE', 'FR', 'Nowhere'),
      properties: fc.constantFrom({}, { plan: 'pro' }, { plan: 'free', n: 1 }),
    },
    { requiredKeys: ['user_id'] },
  ),
})

interface Step {
  readonly event: SentEvent
  readonly then: string
}

const world: fc.Arbitrary<readonly Step[]> = fc
  .array(step, { minLength: EVENTS, maxLength: EVENTS, size: 'max' })
  .map((steps) => {
    let at = Date.parse('2025-12-30T12:00:00Z')
    return steps.map(({ pause, then, fields }) => {
      at += pause
      return { event: { timestamp: new Date(at).toISOString(), ...fields }, then }
    })
  })

const database = withDatabase()

test('events in order give the same sessions in any inserts and loads as in one import', async () => {
  const { store } = database
  for (const steps of fc.sample(world, { seed: SEED, numRuns: WORLDS })) {
    const [whole, stream] = [await newProject(store), await newProject(store)]
    const { report } = await send(
      store,
      whole,
      steps.map(({ event }) => event),
    )
    const want = await readFacts(store, whole.id)
    const users = new Set(want.map((fact) => fact.user_id)).size
    expect(users).toBeGreaterThan(4)
    expect(report).toMatchObject({ received: EVENTS, users })
    for (const fate of ['duplicates', 'bots', 'rejected'] as const) {
      expect(report[fate]).toBeGreaterThan(0)
    }
    let waiting: SentEvent[] = []
    for (const { event, then } of steps) {
      waiting.push(event)
      if (then === '') continue
      await feed(store, stream.id, waiting)
      waiting = []
      if (then === 'load') await loadInbox(store)
    }
    await feed(store, stream.id, waiting)
    await loadInbox(store)
    expect(nameDerivedUsers(await readFacts(store, stream.id))).toEqual(nameDerivedUsers(want))
    await expectConsistentFacts(store, stream.id)
    expect(await listLeftovers(store)).toEqual([])
  }
})
