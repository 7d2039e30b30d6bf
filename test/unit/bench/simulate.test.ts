/** The simulation of many shards: pure functions with known answers. */
import { expect, test } from '@jest/globals'
import {
  estimateFanOut,
  estimateMs,
  quantile,
  simulate,
  type Simulation,
} from '../../../bench/cluster/simulate.js'

const STEADY = { loadingShare: 0, lateShare: 0, lateMs: 0 }
const question = { name: 'q', wholeMs: 20, idle: [10, 10, 10, 10], loading: [30] }
const run = (changes: Partial<Simulation>): ReturnType<typeof simulate> =>
  simulate({
    question,
    shardMs: 10,
    fanOutMs: 0,
    shards: 1,
    assumptions: STEADY,
    queries: 2_000,
    seed: 1,
    ...changes,
  })

test('the same seed gives the same numbers', () => {
  const late = { ...STEADY, lateShare: 0.5, lateMs: 100 }
  const draw = (seed: number): ReturnType<typeof simulate> =>
    run({
      question: { ...question, idle: [1, 2, 3, 4, 5, 6, 7, 8] },
      assumptions: late,
      queries: 5,
      seed,
    })
  expect(draw(1)).toEqual(draw(1))
  expect([2, 3, 4].map(draw)).not.toEqual([1, 1, 1].map(draw))
})

test.each([
  { events: 1, want: 10 },
  { events: 100, want: 10 },
  { events: 150, want: 15 },
  { events: 200, want: 20 },
  { events: 1_200, want: 120 },
  { events: 2_200, want: 220 },
])('the time of $events events', ({ events, want }) => {
  const points = [
    { events: 1_200, ms: 120 },
    { events: 100, ms: 10 },
    { events: 200, ms: 20 },
  ]
  expect(estimateMs(points, events)).toBeCloseTo(want)
})

test('more events are never faster', () => {
  const points = [
    { events: 100, ms: 10 },
    { events: 200, ms: 5 },
  ]
  expect(estimateMs(points, 1_000)).toBe(10)
})

test('asking shards costs what a line through the measurements says', () => {
  const fanOut = [1, 10, 100].map((shards) => ({ shards, ms: 1_000, cpuMs: 5 + shards / 2 }))
  expect([1, 2, 100, 1_000].map((shards) => estimateFanOut(fanOut, shards))).toEqual([
    0,
    expect.closeTo(6),
    expect.closeTo(55),
    expect.closeTo(505),
  ])
})

test('steady shards add only what asking them costs', () => {
  expect(run({ shards: 50, shardMs: 40, fanOutMs: 7 })).toEqual({ p50: 47, p99: 47, p999: 47 })
})

test('a query is as slow as its slowest shard', () => {
  const late = { ...STEADY, lateShare: 0.01, lateMs: 100 }
  expect(run({ assumptions: late }).p50).toBe(10)
  // With 100 shards, 63 % of the queries meet a late one.
  expect(run({ assumptions: late, shards: 100 }).p50).toBe(110)
})

test('shards that load are as slow as they were recorded', () => {
  expect(run({ assumptions: { ...STEADY, loadingShare: 1 } })).toEqual({
    p50: 30,
    p99: 30,
    p999: 30,
  })
})

test('quantiles', () => {
  expect([0.5, 0.99, 1].map((share) => quantile([3, 1, 2, 4], share))).toEqual([2, 4, 4])
})
