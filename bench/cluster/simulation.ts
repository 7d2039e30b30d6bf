/** Prints what queries over many shards take, simulated from the timings of one. */
import { readFileSync } from 'node:fs'
import { packagePath } from '../../src/lib/package-path.js'
import { formatWhole, printTable } from '../shared/figures.js'
import { estimateFanOut, estimateMs, simulate, type Assumptions } from './simulate.js'
import type { QuestionTimings, Timings } from './timings.js'

const FILE = packagePath('bench/figures/cluster-timings.json')
const timings = JSON.parse(readFileSync(FILE, 'utf8')) as Timings
const QUERIES = 2_000
const SEED = Number(process.env['SEED'] ?? 1)
const WIDTHS = [1, 10, 100, 1_000]
const SIZES = [1e9, 1e10, 1e11, 1e12, 1e13]

/** The same questions on projects of 300,000 and of 40 million events, on an idle machine: from figures/queries.md. */
const MEASURED: Readonly<Record<string, readonly [number, number]>> = {
  '30 days, total': [16, 13.8],
  '30 days, by page:path': [41.5, 65.3],
  '30 days, by page:path, filtered by country': [21.9, 95.5],
  '12 months, total': [14.6, 20.6],
  '12 months, by page:path': [49.8, 81.6],
  '12 months, by page:path, filtered by country': [54.9, 867.9],
}
const MEASURED_EVENTS = [300_000, 40_000_000] as const
/** No query may take longer. */
const MAX_MS = 60_000

const CALM: Assumptions = { loadingShare: 0, lateShare: 0, lateMs: 0 }
const USUAL: Assumptions = { loadingShare: 0.3, lateShare: 0.001, lateMs: 250 }

function estimateShard({ name }: QuestionTimings, events: number): number {
  const measured = MEASURED[name]
  if (measured === undefined) throw new Error(`${name} was not measured`)
  return estimateMs(
    MEASURED_EVENTS.map((size, i) => ({ events: size, ms: measured[i] ?? NaN })),
    events,
  )
}

function simulateQuestion(
  question: QuestionTimings,
  events: number,
  shards: number,
  assumptions: Assumptions,
): string {
  const { p50, p99 } = simulate({
    question,
    shardMs: estimateShard(question, events / shards),
    fanOutMs: estimateFanOut(timings.fanOut, shards),
    shards,
    assumptions,
    queries: shards >= 1_000 ? QUERIES / 4 : QUERIES,
    seed: SEED,
  })
  return [p50, p99].map((ms) => (ms > MAX_MS ? '> 60 s' : formatWhole(ms))).join(' · ')
}

console.log(
  `Recorded ${timings.measured}, ${timings.machine}; shards of 2 cores. Milliseconds, median · 99th percentile.`,
)

console.log(
  `\nShards of ${formatWhole(timings.partEvents)} events each; 30 % of them load, 1 of 1,000 statements is 250 ms late:\n`,
)
printTable(
  ['question', ...WIDTHS.map((width) => `${formatWhole(width)} shards`), '1,000 calm shards'],
  timings.questions.map((question) => [
    question.name,
    ...WIDTHS.map((width) => simulateQuestion(question, timings.partEvents * width, width, USUAL)),
    simulateQuestion(question, timings.partEvents * 1_000, 1_000, CALM),
  ]),
)

for (const question of timings.questions) {
  console.log(`\n${question.name}:\n`)
  printTable(
    ['events of the project', ...WIDTHS.map((width) => `${formatWhole(width)} shards`)],
    SIZES.map((events) => [
      `10^${Math.log10(events)}`,
      ...WIDTHS.map((width) => simulateQuestion(question, events, width, USUAL)),
    ]),
  )
}
