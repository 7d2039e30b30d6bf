/** Measures a question and what stands beside it, in turn. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { createQueryRunner } from '../../src/clickhouse/run.js'
import type { Statement } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import type { BareClient } from '../shared/bare.js'
import { readCosts, type Cost } from '../shared/cpu-times.js'
import { measureMs, summarize } from '../shared/figures.js'
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

/** Runs something as the statements of a request. */
type Run = (requestId: string) => Promise<unknown>

/** @throws Error when the service and a hand-written statement return different rows */
export async function measurePair(pair: Pair, options: MeasureOptions): Promise<Measured> {
  const { store, send, runs } = options
  const ask: Run = (requestId) => send(pair.request, requestId)
  await ask(randomUUID())
  const other = await prepare(pair, options)
  const all = [ask, other, ...listAlone(pair, options)]
  const sides = all.map((run) => ({ run, ids: [] as string[], times: [] as number[] }))
  for (let i = 0; i < runs; i++) {
    const turned = [...sides.slice(i % sides.length), ...sides.slice(0, i % sides.length)]
    for (const { run, ids, times } of turned) {
      const requestId = randomUUID()
      ids.push(requestId)
      times.push(await measureMs(() => run(requestId)))
    }
  }
  const costs = await awaitCosts(
    store,
    sides.flatMap(({ ids }) => ids),
  )
  const [asked, compared, alone] = sides.map(({ ids, times }): Times => {
    const known = ids.flatMap((id) => costs.get(id) ?? [])
    const cpuTimes = known.map(({ cpuMs }) => cpuMs)
    return {
      ms: summarize(times).median,
      cpuMs: summarize(cpuTimes).median,
      leastCpuMs: Math.min(...cpuTimes),
      rowsRead: summarize(known.map(({ rowsRead }) => rowsRead)).median,
    }
  })
  return { pair, asked: asked!, beside: compared!, alone }
}

/** How long a statement may take, in milliseconds. */
const MOST_MS = 60_000

/** Lists what runs the service's statement alone, with the service's settings: at most one. */
const listAlone = ({ alone }: Pair, { store }: MeasureOptions): readonly Run[] =>
  alone === undefined
    ? []
    : [(requestId) => createQueryRunner(store, MOST_MS, { requestId })(alone)]

/** The engine may log a statement a moment after its response. */
const LOG_TRIES = 20
const LOG_PAUSE_MS = 250

/** Reads the costs of requests. @throws Error when the engine does not log all of them */
async function awaitCosts(
  store: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Cost>> {
  for (let i = 0; i < LOG_TRIES; i++) {
    const costs = await readCosts(store)
    if (ids.every((id) => costs.has(id))) return costs
    await setTimeout(LOG_PAUSE_MS)
  }
  throw new Error('the engine has not logged every run')
}

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
  const tried: { readonly way: Statement; readonly ids: readonly string[] }[] = []
  for (const way of ways) {
    const { data } = await client.run<HandRow>(way)
    check(answer, data)
    const ids = Array.from({ length: TRIES }, () => randomUUID())
    for (const id of ids) await client.run(way, id)
    tried.push({ way, ids })
  }
  const costs = await awaitCosts(
    store,
    tried.flatMap(({ ids }) => ids),
  )
  const times = tried.map(({ way, ids }) => ({
    way,
    least: Math.min(...ids.map((id) => costs.get(id)?.cpuMs ?? Infinity)),
  }))
  return times.reduce((best, one) => (one.least < best.least ? one : best)).way
}
