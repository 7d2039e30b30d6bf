/** The law of loading: the sessions do not depend on how events are split into batches. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { orderNights } from '../support/arbitrary/night-order.js'
import { withDatabase } from '../support/store/database.js'
import {
  expectConsistentFacts,
  listLeftovers,
  nameDerivedUsers,
  readFacts,
  type Fact,
} from '../support/store/facts.js'
import { newProject, send, type SentEvent } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
/** The number of worlds; each user of a world is a case. */
const WORLDS = 1
const USERS = 60

const MINUTE = 60_000
/** Pauses around the one that ends a session, in milliseconds. */
const PAUSES = [1, 1_000, 10 * MINUTE, 30 * MINUTE - 1, 30 * MINUTE, 30 * MINUTE + 1, 50 * MINUTE]
const STARTS = ['2024-02-29T22:30:00Z', '2024-12-31T23:00:00Z', '2025-06-01T12:00:00Z']

/** An event, its pause after the previous one, and its arrival: the batch, and the position in it. */
const step = (pauses: readonly number[]) =>
  fc.record({
    pause: fc.constantFrom(...pauses),
    batch: fc.nat(3),
    place: fc.nat(),
    name: fc.constantFrom('pageview', 'pageview', 'signup'),
    session_id: fc.constantFrom('', '', '', 's', 't'),
    path: fc.constantFrom('/a', '/b', '/c'),
    utm_source: fc.constantFrom('', 'mail', 'ads'),
    country: fc.constantFrom('', 'DE', 'FR'),
  })

interface Arrival {
  readonly batch: number
  readonly place: number
  readonly event: SentEvent
}

/** The events of one user in order of time; no two at one moment unless a pause may be none. */
const history = (pauses: readonly number[]): fc.Arbitrary<readonly Arrival[]> =>
  fc
    .tuple(
      fc.constantFrom(...STARTS),
      fc.array(step(pauses), { minLength: 1, maxLength: 8, size: 'max' }),
    )
    .map(([start, steps]) => {
      let at = Date.parse(start)
      return steps.map(({ pause, batch, place, ...fields }) => {
        at += pause
        return { batch, place, event: { timestamp: new Date(at).toISOString(), ...fields } }
      })
    })

/** The fields of a user with an id, and of one without. */
const nameUser = (user: number): object => ({ user_id: `u${user}` })
const nameAddress = (user: number): object => ({ ip: `192.0.2.${user}` })

const worldOf = (
  pauses: readonly number[],
  identify: (user: number) => object,
): fc.Arbitrary<readonly (readonly Arrival[])[]> =>
  fc
    .array(history(pauses), { minLength: USERS, maxLength: USERS, size: 'max' })
    .map((histories) =>
      histories.map((arrivals, user) =>
        arrivals.map((one) => ({ ...one, event: { ...one.event, ...identify(user) } })),
      ),
    )

const database = withDatabase()

/** Loads the batches in turn, and reads the resulting sessions. */
async function load(batches: readonly (readonly SentEvent[])[]): Promise<readonly Fact[]> {
  const { store } = database
  const project = await newProject(store)
  for (const events of batches) {
    if (events.length === 0) continue
    await send(store, project, events)
    await expectConsistentFacts(store, project.id)
  }
  expect(await listLeftovers(store)).toEqual([])
  return nameDerivedUsers(await readFacts(store, project.id))
}

const inBatches = (arrivals: readonly Arrival[]): SentEvent[][] =>
  [0, 1, 2, 3].map((n) => arrivals.filter(({ batch }) => batch === n).map(({ event }) => event))

const sample = (pauses: readonly number[], identify = nameUser) =>
  fc.sample(worldOf(pauses, identify), { seed: SEED, numRuns: WORLDS })

test.each([
  ['users with an id', nameUser],
  ['users without an id', nameAddress],
])('events of %s in order give the same sessions in any batches as in one', async (_, identify) => {
  for (const world of sample([0, ...PAUSES], identify)) {
    const ordered = world.map((arrivals) => {
      const batches = arrivals.map(({ batch }) => batch).sort()
      return arrivals.map((one, i) => ({ ...one, batch: batches[i]! }))
    })
    const whole = await load([ordered.flatMap((arrivals) => arrivals.map(({ event }) => event))])
    expect(await load(inBatches(ordered.flat()))).toEqual(whole)
  }
})

test('events in any order give the same sessions as in order', async () => {
  for (const world of sample(PAUSES)) {
    const whole = await load([world.flatMap((arrivals) => arrivals.map(({ event }) => event))])
    const late = world.flat().sort((a, b) => a.place - b.place)
    expect(await load(inBatches(late))).toEqual(whole)
  }
})

/** More than any place in a batch. */
const BATCH_PLACES = 2 ** 32

test('so do those of users without an id, if visits over midnight come in order', async () => {
  for (const world of sample(PAUSES, nameAddress)) {
    const whole = await load([world.flatMap((arrivals) => arrivals.map(({ event }) => event))])
    const places = world
      .flat()
      .map(({ batch, place, event }) => ({ event, place: batch * BATCH_PLACES + place }))
    const late = orderNights(places)
      .map((one) => ({ ...one, batch: Math.floor(one.place / BATCH_PLACES) }))
      .sort((a, b) => a.place - b.place)
    expect(late.map(({ event }) => event)).not.toEqual(world.flat().map(({ event }) => event))
    expect(await load(inBatches(late))).toEqual(whole)
  }
})
