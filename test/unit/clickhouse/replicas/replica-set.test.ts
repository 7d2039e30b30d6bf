/** What a process knows of the replicas of a store, from what they say. */
import { expect, test } from '@jest/globals'
import type { Look } from '../../../../src/clickhouse/endpoint.js'
import { createReplicaSet } from '../../../../src/clickhouse/replica-set.js'

const account = { username: 'one', password: '' }
const ENDPOINT = { database: 'd', accounts: { admin: account, writer: account, reader: account } }
const LOOK: Look = { number: 1, active: 'a', total: 2, live: 2, aloneSeconds: 0 }

const createSet = () =>
  createReplicaSet(ENDPOINT, '/path', [
    { name: 'a', url: 'http://a' },
    { name: 'b', url: 'http://b' },
  ])

test.each<{ title: string; looks: readonly Partial<Look>[]; quorum: number; hasFallen: boolean }>([
  { title: 'both reach Keeper', looks: [{}], quorum: 2, hasFallen: false },
  { title: 'one is away', looks: [{}, { live: 1 }], quorum: 1, hasFallen: true },
  { title: 'one was away from the start', looks: [{ live: 1 }], quorum: 1, hasFallen: false },
  { title: 'one of three is away', looks: [{ total: 3, live: 3 }, { total: 3 }], quorum: 2, hasFallen: false }, // prettier-ignore
])('gives up inserts that wait for a replica when $title', ({ looks, quorum, hasFallen }) => {
  const set = createSet()
  const [a] = set.members
  const [first, ...later] = looks
  set.note(a!, 0, { ...LOOK, ...first })
  const signal = set.getQuorumSignal()
  for (const look of later) set.note(a!, 0, { ...LOOK, ...look })
  expect([set.getQuorum(), signal.aborted]).toEqual([quorum, hasFallen])
  expect(set.getQuorumSignal().aborted).toBe(false)
})

test('tries replicas that do not answer last, and leaves what runs on one of them when another takes over', () => {
  const set = createSet()
  const [a, b] = set.members
  for (const member of [a!, b!]) set.note(member, performance.now(), LOOK)
  expect(set.listToWrite()).toEqual([a, b])
  const { member, left } = set.getActive()
  expect(member).toBe(a)
  set.note(a!, 0, undefined)
  expect([set.listToWrite(), set.listAnswering()]).toEqual([[b, a], [b]])
  set.note(b!, performance.now(), { ...LOOK, number: 2, active: 'b' })
  expect([set.getActive().member, left.aborted]).toEqual([b, true])
})

test('does not believe a replica that was cut off from Keeper', () => {
  const set = createSet()
  const [a, b] = set.members
  set.note(b!, performance.now(), { ...LOOK, number: 2, active: 'b' })
  set.note(a!, performance.now(), LOOK)
  expect(set.getActive().member).toBe(b)
})

test('knows when the active replica was last seen, whichever response comes last', () => {
  const set = createSet()
  const [a, b] = set.members
  set.note(a!, 20, LOOK)
  set.note(a!, 10, LOOK)
  expect(set.getSeenAt()).toBe(20)
  set.note(b!, 15, { ...LOOK, number: 2, active: 'b' })
  expect(set.getSeenAt()).toBe(15)
})
