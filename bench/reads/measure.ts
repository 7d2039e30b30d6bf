/** Measures one query: the service, the best hand-written statement, and the usual statements, in turn. */
import { isDeepStrictEqual } from 'node:util'
import type { AnalyticsQueryResponse } from '../../src/contract/api.js'
import type { Store } from '../../src/clickhouse/store.js'
import { buildQueryStatement, type BareClient } from '../shared/bare.js'
import { createSide, readSideCosts, runSide, type Side } from '../shared/cpu-times.js'
import { summarize, measureMs, type Summary } from '../shared/figures.js'
import { buildUsualStatements } from './queries-as-usual.js'
import { listWays, type Way } from './queries-by-hand.js'
import { buildRequest, type BenchQuery } from './queries.js'
import { ALL_RELATIONS, WITHOUT_PAIRS } from '../../src/model/relations.js'
import type { ReadSizes } from '../../src/projects/project-sizes.js'
import type { SendQuery } from '../shared/service.js'

/** Times of runs in milliseconds, and the median CPU time that the engine took for one. */
export interface Times extends Summary {
  readonly cpuMs: number
}

export interface Measured {
  readonly query: BenchQuery
  readonly service: Times
  readonly byHand: Times
  /** The name of the fastest hand-written statement. */
  readonly way: string
  /** Undefined when the usual statements were not measured. */
  readonly usual: Summary | undefined
  /** Rows read by the service's statement. */
  readonly rowsRead: number
}

export interface MeasureOptions {
  readonly store: Store
  readonly sendQuery: SendQuery
  readonly client: BareClient
  /** How often the service and the hand-written statement are measured, and how often the usual ones. */
  readonly runs: number
  readonly usualRuns: number
  readonly now: Date
  /** Reads what the service's planner knows about a project. */
  readonly readSizes: ReadSizes
  /** Returns whether the service may read rollups of pairs of a project. */
  readonly isPaired: (project: string) => Promise<boolean>
}

/** @throws Error when the service and a hand-written statement return different rows */
export async function measure(benchQuery: BenchQuery, options: MeasureOptions): Promise<Measured> {
  const { store, sendQuery, client, runs, usualRuns, now } = options
  const request = buildRequest(benchQuery)
  const body = JSON.stringify(request)
  const usual = benchQuery.hasUsual ? buildUsualStatements(benchQuery) : []
  const runUsual = async (): Promise<void> => {
    for (const one of usual) await client.run(one)
  }

  const response = await sendQuery(body)
  await sendQuery(body)
  const way = await findFastest(benchQuery, response, client)
  if (usual.length > 0) await runUsual()
  const { project } = benchQuery
  const sizes = await options.readSizes(project)
  const relations = (await options.isPaired(project)) ? ALL_RELATIONS : WITHOUT_PAIRS
  const { statistics } = await client.run(
    buildQueryStatement(request, project, now, sizes, relations),
  )

  const service = createSide((requestId) => sendQuery(body, requestId))
  const byHand = createSide((requestId) => client.run(way.statement, requestId))
  const usualTimes: number[] = []
  for (let i = 0; i < runs; i++) {
    await runSide(service)
    await runSide(byHand)
    if (usual.length > 0 && i < usualRuns) usualTimes.push(await measureMs(runUsual))
  }
  return {
    query: benchQuery,
    way: way.name,
    service: await readTimes(store, service),
    byHand: await readTimes(store, byHand),
    usual: usualTimes.length > 0 ? summarize(usualTimes) : undefined,
    rowsRead: statistics?.rows_read ?? 0,
  }
}

async function readTimes(store: Store, side: Side): Promise<Times> {
  const costs = await readSideCosts(store, side)
  const cpuMs = summarize(costs.map((cost) => cost.cpuMs)).median
  return { ...summarize(side.times), cpuMs }
}

/** Runs all hand-written statements twice, checks their rows, and returns the fastest in the second run. */
async function findFastest(
  benchQuery: BenchQuery,
  response: AnalyticsQueryResponse,
  client: BareClient,
): Promise<Way> {
  const tried: (readonly [number, Way])[] = []
  for (const way of listWays(benchQuery)) {
    const { data } = await client.run<HandRow>(way.statement)
    requireSameRows(benchQuery, response, data, way.name)
    tried.push([await measureMs(() => client.run(way.statement)), way])
  }
  return tried.reduce((best, one) => (one[0] < best[0] ? one : best))[1]
}

type HandRow = Readonly<Record<string, string | number | null>>

function requireSameRows(
  benchQuery: BenchQuery,
  { query, data }: AnalyticsQueryResponse,
  rows: readonly HandRow[],
  way: string,
): void {
  const isSeries = benchQuery.shape.isSeries === true
  const actual = data.map(({ group, metrics }) => {
    const [key = ''] = Object.values(group)
    return [isSeries ? key.slice(0, 10) : key, ...Object.values(metrics)]
  })
  const expected = rows.map((row) => [
    row['key'],
    ...query.metrics.map(
      (metric) => row[`metric_${typeof metric === 'string' ? metric : metric.as}`],
    ),
  ])
  if (isDeepStrictEqual(actual, expected)) return
  const at = actual.findIndex((row, i) => !isDeepStrictEqual(row, expected[i]))
  throw new Error(
    `${benchQuery.project}, ${benchQuery.period.name}, ${benchQuery.shape.name}: row ${at} is ${JSON.stringify(actual[at])}, by hand (${way}) ${JSON.stringify(expected[at])}; ${actual.length} and ${expected.length} rows`,
  )
}
