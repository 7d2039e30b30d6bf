/** Measures how much faster or slower loading is in other circumstances: without the views of the rollups, with numbers, with a goal. */
import type { Store } from '../../src/clickhouse/store.js'
import { sql, statement } from '../../src/clickhouse/sql.js'
import { writeDefinition } from '../../src/projects/definitions.js'
import { dropLiveViews } from '../../src/rollups/materialized-views.js'
import { beginPairs } from '../../src/rollups/paired-projects.js'
import { importEvents } from '../../test/support/store/loading.js'
import { waitForMerges } from '../reads/disk.js'
import { formatTenths, formatWhole, measureMs, printTable, summarize } from './figures.js'
import { PROJECT, withFreshStore } from './fresh-store.js'
import { ARRIVAL, createChunks, createFullEvent, streamChunks, type Run } from './loading.js'

const EVENTS = Number(process.env['LOADED'] ?? 1_000_000)
const WARM_UP = 20_000
/** Measurements of each, taken in turn. */
const TIMES = Number(process.env['TIMES'] ?? 3)

interface Variant {
  readonly make: Run['make']
  readonly prepare?: (store: Store) => Promise<void>
}
/** By name. The first is what the others are compared with. */
export type Variants = Readonly<Record<string, Variant>>

export const VIEWS: Variants = {
  'with the views': { make: createFullEvent },
  'without them': { make: createFullEvent, prepare: ({ admin }) => dropLiveViews(admin) },
}

/** Adds a property to each event. */
const addAmount =
  (write: (n: number) => string): Run['make'] =>
  (n) => {
    const event = createFullEvent(n)
    return { ...event, properties: { ...(event['properties'] as object), amount: write(n) } }
  }
/** One of 50 prices, with a separator of its decimals. */
const writePrice = (n: number, separator: string): string => `${100 + (n % 50)}${separator}50`

const makeNumber = addAmount((n) => writePrice(n, '.'))

/** A comma makes a text of a number. */
export const NUMBERS: Variants = {
  'as they are': { make: createFullEvent },
  'a text in each': { make: addAmount((n) => writePrice(n, ',')) },
  'a number in each': { make: makeNumber },
  'a goal of the project': {
    make: createFullEvent,
    prepare: async ({ writer }) => {
      const filters = [{ field: 'event:name', operator: 'is', value: ['signup'] }] as const
      const definition = { kind: 'goal', name: 'signup', filters, value: null } as const
      await writeDefinition(writer, PROJECT, { definition, isDeleted: false, version: 1 })
    },
  },
}

/** A project with rollups of pairs, and of sums of numbers. */
const becomeLarge = (store: Store): Promise<void> => beginPairs(store, [PROJECT])

/** What the sums of numbers of large projects add. */
export const SUMS: Variants = {
  'a large project without sums': {
    make: makeNumber,
    prepare: async (store) => {
      await becomeLarge(store)
      await store.admin.execute(statement(sql`DROP VIEW feed_numbers SYNC`))
    },
  },
  'a large project': { make: makeNumber, prepare: becomeLarge },
}

/** What a load took, from the bytes of a file until the events are visible, and in CPU time until all is merged. */
interface Taken {
  readonly ms: number
  readonly cpuMs: number
}

/** Prints how fast a file is loaded in each variant, each time into an empty store. */
export async function printLoadRates(variants: Variants): Promise<void> {
  const all = Object.entries(variants).map(([name, variant]) => ({
    name,
    variant,
    taken: [] as Taken[],
  }))
  for (let i = 0; i < TIMES; i++) {
    for (const { name, variant, taken } of i % 2 === 0 ? all : all.toReversed()) {
      const one = await measureLoad(variant)
      console.error(`${name}: ${formatTenths(one.cpuMs / 1_000)} CPU s`)
      taken.push(one)
    }
  }
  const summaries = all.map(({ name, taken }) => ({
    name,
    ms: summarize(taken.map(({ ms }) => ms)).median,
    cpuMs: summarize(taken.map(({ cpuMs }) => cpuMs)).median,
    leastCpuMs: Math.min(...taken.map(({ cpuMs }) => cpuMs)),
  }))
  const [first] = summaries
  printTable(
    [
      `loading ${formatWhole(EVENTS)} events`,
      'events/s',
      'CPU s',
      'lowest CPU s',
      'rate by CPU s',
      'rate by lowest',
    ],
    summaries.map(({ name, ms, cpuMs, leastCpuMs }) => [
      name,
      formatWhole(EVENTS / (ms / 1_000)),
      ...[cpuMs, leastCpuMs].map((time) => formatTenths(time / 1_000)),
      ...[first!.cpuMs / cpuMs, first!.leastCpuMs / leastCpuMs].map((rate) => rate.toFixed(2)),
    ]),
  )
}

async function measureLoad({ make, prepare }: Variant): Promise<Taken> {
  const events = createChunks({ name: 'events', events: EVENTS, make })
  const warmUp = createChunks({
    name: 'warm-up',
    events: WARM_UP,
    make: (n) => make(EVENTS + n),
  })
  return withFreshStore(async (store) => {
    await prepare?.(store)
    await load(store, warmUp)
    await waitForMerges(store)
    const before = await readCpuMs(store)
    const ms = await measureMs(() => load(store, events))
    await waitForMerges(store)
    return { ms, cpuMs: (await readCpuMs(store)) - before }
  })
}

/** Reads the CPU time that the loader, which is in this process, and the engine have taken until now. */
async function readCpuMs({ admin }: Store): Promise<number> {
  const { user, system } = process.cpuUsage()
  const { rows } = await admin.query<{ micros: number }>(
    statement(sql`
SELECT toFloat64(sum(value)) AS micros FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')`),
  )
  return (user + system + (rows[0]?.micros ?? NaN)) / 1_000
}

async function load(store: Store, chunks: readonly Buffer[]): Promise<void> {
  await importEvents(store, streamChunks(chunks), {
    now: ARRIVAL,
    projectId: PROJECT,
    onRejected: (rows) => {
      throw new Error(rows[0]?.reason)
    },
  })
}
