/** Measures a question and what stands beside it, in turn. */
import { randomUUID } from 'node:crypto'
import { createQueryRunner } from '../../src/clickhouse/run.js'
import type { Statement } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import type { BareClient } from '../shared/bare.js'
import { createSide, readSideCosts, runSide, type Run } from '../shared/cpu-times.js'
import { summarize } from '../shared/figures.js'
import type { SendRequest } from '../shared/service.js'
import type { ByHand, HandRow, Pair } from './pair.js'

/** Medians, unless the name says otherwise. */
export interface Times {
  readonly ms: number
  /** CPU time of the engine. */
  readonly cpuMs: number
  readonly leastCpuMs: number
  readonly rowsRead: number
}

export interface Measured {
  readonly pair: Pair
  readonly asked: Times
  readonly beside: Times
  /** The service's statement without the service; absent if it is not measured. */
  readonly alone?: Times | undefined
}

export interface MeasureOptions {
  readonly store: Store
  readonly send: SendRequest
  readonly client: BareClient
  readonly runs: number
}

/** @throws Error when the service and a hand-written statement return different rows */
export async function measurePair(pair: Pair, options: MeasureOptions): Promise<Measured> {
  const { store, send, runs } = options
  const ask: Run = (requestId) => send(pair.request, requestId)
  await ask(randomUUID())
  const other = await prepare(pair, options)
  const sides = [ask, other, ...listAlone(pair, options)].map(createSide)
  for (let i = 0; i < runs; i++) {
    const first = i % sides.length
    for (const side of [...sides.slice(first), ...sides.slice(0, first)]) await runSide(side)
  }
  const [asked, compared, alone] = await Promise.all(
    sides.map(async (side): Promise<Times> => {
      const costs = await readSideCosts(store, side)
      const cpuTimes = costs.map(({ cpuMs }) => cpuMs)
      return {
        ms: summarize(side.times).median,
        cpuMs: summarize(cpuTimes).median,
        leastCpuMs: Math.min(...cpuTimes),
        rowsRead: summarize(costs.map(({ rowsRead }) => rowsRead)).median,
      }
    }),
  )
  return { pair, asked: asked!, beside: compared!, alone }
}

/** How long a statement may take, in milliseconds. */
const MOST_MS = 60_000

/** Lists what runs the service's statement alone, with the service's settings: at most one. */
const listAlone = ({ alone }: Pair, { store }: MeasureOptions): readonly Run[] =>
  alone === undefined
    ? []
    : [(requestId) => createQueryRunner(store, MOST_MS, { requestId })(alone)]

/** Finds what to run beside the question, and runs it once. */
async function prepare({ request, beside }: Pair, options: MeasureOptions): Promise<Run> {
  const { send, client } = options
  if ('request' in beside) {
    const simpler = beside.request
    await send(simpler)
    return (requestId) => send(simpler, requestId)
  }
  const best = await findBest(beside, await send(request), options)
  return (requestId) => client.run(best, requestId)
}

/** How often each hand-written statement runs before one is chosen. */
const TRIES = 2

/** Runs all hand-written statements once, checks their rows, and returns the one that takes the least CPU time in further runs. */
async function findBest(
  { ways, check }: ByHand,
  answer: string,
  { client, store }: MeasureOptions,
): Promise<Statement> {
  const tried: { readonly way: Statement; readonly least: number }[] = []
  for (const way of ways) {
    const { data } = await client.run<HandRow>(way)
    check(answer, data)
    const side = createSide((requestId) => client.run(way, requestId))
    for (let i = 0; i < TRIES; i++) await runSide(side)
    const costs = await readSideCosts(store, side)
    tried.push({ way, least: Math.min(...costs.map(({ cpuMs }) => cpuMs)) })
  }
  return tried.reduce((best, one) => (one.least < best.least ? one : best)).way
}
