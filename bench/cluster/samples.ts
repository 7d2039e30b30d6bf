/** Measures what the simulation needs of one shard: how long its part of each query takes, and what it costs to ask other shards. */
import { identifier, sql, statement } from '../../src/clickhouse/sql.js'
import { acrossStores } from '../../src/cluster/shard-settings.js'
import type { StoredProject } from '../../src/projects/project.js'
import { COMPOSED } from '../reads/periods.js'
import { buildRequest, type BenchQuery } from '../reads/queries.js'
import { measureMs, summarize } from '../shared/figures.js'
import { createAsk, readMoment, readWork, type Ask } from './ask.js'
import { nameRepeats, type BenchCluster } from './engines.js'
import { createParts, loadPart } from './load.js'
import type { QuestionTimings, Timings } from './timings.js'

const SAMPLES = Number(process.env['SAMPLES'] ?? 200)
const WHOLE_RUNS = 15
/** An engine runs at most 80 queries of the account at once. */
export const REPEATS = [10, 20, 40, 70]
const FAN_OUT_RUNS = 10
/** A total, groups with many rows, and a query that no rollup answers. */
const SAMPLED = ['total', 'by page:path', 'by page:path, filtered by country']

export async function measureFanOut({ home }: BenchCluster): Promise<Timings['fanOut']> {
  const reader = acrossStores(home.store.reader)
  const measured: Timings['fanOut'][number][] = []
  for (const shards of REPEATS) {
    const asked = statement(
      sql`SELECT count() AS shards FROM cluster(${identifier(nameRepeats(shards))}, view(SELECT 1 AS one))`,
    )
    await reader.query(asked)
    const since = readMoment()
    const times: number[] = []
    for (let i = 0; i < FAN_OUT_RUNS; i++) times.push(await measureMs(() => reader.query(asked)))
    const { cpuMs } = await readWork(home.store, since, 'service')
    measured.push({ shards, ms: summarize(times).median, cpuMs: cpuMs / FAN_OUT_RUNS })
  }
  return measured
}

/** Measures a part of the project on its shard, asked alone, until `isOver`. */
async function sample(ask: Ask, query: BenchQuery, count: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) times.push(await measureMs(() => ask(buildRequest(query))))
  return times.map((ms) => Math.round(ms * 10) / 10)
}

export async function measureParts(
  cluster: BenchCluster,
  { narrow, wide }: Readonly<Record<'narrow' | 'wide', StoredProject>>,
  questions: readonly BenchQuery[],
  now: Date,
): Promise<readonly QuestionTimings[]> {
  const alone = { ...wide, shards: [cluster.home.name] }
  const [whole, part] = await Promise.all([
    createAsk(cluster, narrow, now),
    createAsk(cluster, alone, now),
  ])
  const sampled = questions.filter(
    ({ shape, period }) => SAMPLED.includes(shape.name) && period !== COMPOSED,
  )
  const timings: QuestionTimings[] = []
  for (const [i, query] of sampled.entries()) {
    console.error(`samples of ${nameQuery(query)}`)
    const { median } = summarize(await sample(whole, query, WHOLE_RUNS))
    const idle = await sample(part, query, SAMPLES)
    const isLoaded = keepLoading(cluster, i)
    const loading = await sample(part, query, SAMPLES)
    await isLoaded.stop()
    timings.push({ name: nameQuery(query), wholeMs: Math.round(median * 10) / 10, idle, loading })
  }
  return timings
}

/** Loads events of another project into the first shard until it is stopped. */
function keepLoading({ home }: BenchCluster, run: number): { readonly stop: () => Promise<void> } {
  let isStopped = false
  const load = async (): Promise<void> => {
    for (let n = 0; !isStopped; n++) {
      const [events] = createParts(5_000, 1e8 + run * 1e7 + n * 5_000, 1)
      await loadPart(home, 'loaded', events!)
    }
  }
  const ended = load()
  return {
    stop: async () => {
      isStopped = true
      await ended
    },
  }
}

export const nameQuery = ({ period, shape }: BenchQuery): string => `${period.name}, ${shape.name}`
