/**
 * Simulates queries over more shards than this machine can run: each shard is replaced by timings that were recorded of one.
 * Pure functions; the same seed gives the same numbers.
 */
import { createRandom, type Random } from '../../src/demo/random.js'
import type { QuestionTimings, Timings } from './timings.js'

/** What is assumed, because one machine cannot show it. */
export interface Assumptions {
  /** The share of shards that load events while they are asked. */
  readonly loadingShare: number
  /** How likely a shard is late beyond what was recorded, and by how many milliseconds: a lost packet, a slow disk. */
  readonly lateShare: number
  readonly lateMs: number
}

/** The median time of a question on one shard with this number of events, in milliseconds. */
export interface SizePoint {
  readonly events: number
  readonly ms: number
}

/** Interpolates between sizes, and continues the last line beyond them. Never falls below the smallest. */
export function estimateMs(points: readonly SizePoint[], events: number): number {
  const sorted = points.toSorted((a, b) => a.events - b.events)
  const [smallest] = sorted
  if (smallest === undefined) throw new RangeError('no sizes')
  if (events <= smallest.events || sorted.length === 1) return smallest.ms
  const next = sorted.findIndex((point) => point.events >= events)
  const to = sorted.at(next === -1 ? -1 : next)!
  const from = sorted[sorted.indexOf(to) - 1]!
  const slope = Math.max(0, (to.ms - from.ms) / (to.events - from.events))
  return from.ms + slope * (events - from.events)
}

/** The CPU time in milliseconds that a shard needs to ask this number of others: a line through what was measured. */
export function estimateFanOut(fanOut: Timings['fanOut'], shards: number): number {
  if (shards === 1) return 0
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const x = mean(fanOut.map((point) => point.shards))
  const y = mean(fanOut.map(({ cpuMs }) => cpuMs))
  const slope =
    mean(fanOut.map((point) => (point.shards - x) * (point.cpuMs - y))) /
    mean(fanOut.map((point) => (point.shards - x) ** 2))
  return Math.max(0, y + slope * (shards - x))
}

export interface Simulated {
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

export interface Simulation {
  readonly question: QuestionTimings
  /** What a shard with its events takes in the median, and what asking all shards takes. */
  readonly shardMs: number
  readonly fanOutMs: number
  readonly shards: number
  readonly assumptions: Assumptions
  readonly queries: number
  readonly seed: number
}

/** Draws queries, each as slow as its slowest shard, and returns how long they take. */
export function simulate(simulation: Simulation): Simulated {
  const { question, shardMs, fanOutMs, shards, queries, seed } = simulation
  const generator = createRandom(seed)
  const recorded = quantile(question.idle, 0.5)
  const drawShard = (): number =>
    shardMs + drawExcess(simulation.assumptions, question, recorded, generator)
  const times = Array.from({ length: queries }, () => {
    let slowest = 0
    for (let i = 0; i < shards; i++) slowest = Math.max(slowest, drawShard())
    return fanOutMs + slowest
  })
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), p999: quantile(times, 0.999) }
}

/** Draws how much slower than its median a shard is, from what was recorded for shards of any size. */
function drawExcess(
  { loadingShare, lateShare, lateMs }: Assumptions,
  { idle, loading }: QuestionTimings,
  recorded: number,
  random: Random,
): number {
  const times = random.chance(loadingShare) ? loading : idle
  const excess = Math.max(0, (times[random.below(times.length)] ?? 0) - recorded)
  return excess + (random.chance(lateShare) ? lateMs : 0)
}

/** Returns the value below which this share of the values lies. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? NaN
