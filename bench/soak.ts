/** Runs the service for a long time under half of what its collector can take and a mix of queries, and watches what grows. */
import { readdir, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, statement } from '../src/clickhouse/sql.js'
import type { Store } from '../src/clickhouse/store.js'
import { createVisit, findChild, readAllocatedMemory } from './shared/collecting.js'
import {
  percentile,
  send,
  withDemoService,
  withStore,
  type DemoService,
} from './shared/demo-service.js'
import { formatTenths, formatWhole, printMachine } from './shared/figures.js'
import { sendLoad, type Loaded } from './shared/http-load.js'

const MINUTES = Number(process.env['MINUTES'] ?? 30)
/** Length of a row of the table. */
const SECONDS = 60
/** When the state of a minute is read: its connections are still open. */
const SAMPLE_AT = 50
/** Rows that do not count for the slope: caches fill. */
const WARM_UP = Math.min(5, Math.floor(MINUTES / 3))
const PEAK_SECONDS = 10
const CONNECTIONS = 50
const QUERIES_PER_SECOND = 4
const QUERIES = [
  { date_range: 'today', metrics: ['users', 'pageviews', 'events'] },
  { date_range: '30days', group_by: ['interval:auto'] },
  { date_range: '30days', group_by: ['page:path'] },
  { date_range: '30days', group_by: ['country'] },
  {
    date_range: '7days',
    group_by: ['page:path'],
    filters: [{ type: 'location', country: { operator: 'oneOf', value: ['DE'] } }],
  },
]

interface Minute {
  /** Allocated megabytes. */
  readonly serviceMb: number
  readonly engineMb: number
  readonly sockets: number
  readonly parts: number
  readonly temporaryTables: number
  readonly waiting: number
  readonly collected: Loaded
  /** Milliseconds of the queries, and how many did not get 200. */
  readonly queryMs: readonly number[]
  readonly failedQueries: number
}

const collect = ({ address, publicToken }: DemoService, seconds: number, rate?: number) =>
  sendLoad({
    url: `${address}/v1/events`,
    headers: { Authorization: `Bearer ${publicToken}`, 'Content-Type': 'application/json' },
    body: (n) => JSON.stringify(createVisit(n)),
    connections: CONNECTIONS,
    seconds,
    ...(rate === undefined ? {} : { rate }),
  })

/** Sends queries at a fixed rate, whether responses come or not. */
async function query(service: DemoService): Promise<Pick<Minute, 'queryMs' | 'failedQueries'>> {
  const begun = performance.now()
  const answers = Array.from({ length: SECONDS * QUERIES_PER_SECOND }, async (_, n) => {
    const due = begun + (n * 1_000) / QUERIES_PER_SECOND
    await sleep(due - performance.now())
    const failed = { status: 0, ms: NaN }
    return send(service, service.tokens[0]!, QUERIES[n % QUERIES.length], due).catch(() => failed)
  })
  const all = await Promise.all(answers)
  const invalid = all.find(({ status }) => status >= 400 && status < 429)
  if (invalid !== undefined) throw new Error(`a query got ${invalid.status}`)
  const good = all.filter(({ status }) => status === 200)
  return { queryMs: good.map(({ ms }) => ms), failedQueries: all.length - good.length }
}

async function countSockets(pid: number): Promise<number> {
  const folder = `/proc/${pid}/fd`
  const links = await Promise.all(
    (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => '')),
  )
  return links.filter((link) => link.startsWith('socket:')).length
}

type Counts = Pick<Minute, 'parts' | 'temporaryTables' | 'waiting'>

async function readCounts({ admin }: Store): Promise<Counts> {
  const { rows } = await admin.query<Counts>(
    statement(sql`
SELECT
  (SELECT count() FROM system.parts WHERE database = currentDatabase() AND active) AS parts,
  (SELECT count() FROM system.tables
   WHERE database = currentDatabase() AND match(name, '^(load|removal|trial|staged|draft)_')) AS temporaryTables,
  (SELECT count() FROM inbox WHERE line != '') AS waiting`),
  )
  return rows[0]!
}

async function runMinute(service: DemoService, store: Store, rate: number): Promise<Minute> {
  const sample = async () => {
    await sleep(SAMPLE_AT * 1_000)
    return {
      serviceMb: await readAllocatedMemory(service.pid),
      engineMb: await readAllocatedMemory(await findChild(service.pid)),
      sockets: await countSockets(service.pid),
      ...(await readCounts(store)),
    }
  }
  const [collected, queries, state] = await Promise.all([
    collect(service, SECONDS, rate),
    query(service),
    sample(),
  ])
  return { collected, ...queries, ...state }
}

const COLUMNS: Readonly<Record<string, (minute: Minute) => string>> = {
  'service MB': ({ serviceMb }) => formatWhole(serviceMb),
  'engine MB': ({ engineMb }) => formatWhole(engineMb),
  sockets: ({ sockets }) => String(sockets),
  parts: ({ parts }) => formatWhole(parts),
  'temporary tables': ({ temporaryTables }) => String(temporaryTables),
  'events waiting': ({ waiting }) => formatWhole(waiting),
  'events/s': ({ collected }) => formatWhole(collected.rate),
  'collector p99 ms': ({ collected }) => formatTenths(percentile(collected.latencies, 0.99)),
  'not 202': ({ collected: { latencies, statuses } }) =>
    formatWhole(latencies.length - (statuses.get('202') ?? 0)),
  'query p99 ms': ({ queryMs }) => formatTenths(percentile(queryMs, 0.99)),
  'not 200': ({ failedQueries }) => String(failedQueries),
}

const printRow = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`)

/** The growth per 10 minutes, by least squares. */
function computeSlope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const [above, below] = values.reduce(
    ([a, b], value, i) => [a + (i - middle) * (value - mean), b + (i - middle) ** 2],
    [0, 0],
  )
  return (above / below) * ((10 * 60) / SECONDS)
}

await withDemoService(1, {}, async (service) => {
  await printMachine(new Date())
  await withStore(service, async (store) => {
    const peak = (await collect(service, PEAK_SECONDS)).rate
    console.log(`peak of the collector: ${formatWhole(peak)} requests of one event per second\n`)
    printRow(['minute', ...Object.keys(COLUMNS)])
    printRow(['---', ...Object.keys(COLUMNS).map(() => '--:')])
    const minutes: Minute[] = []
    for (let n = 1; n <= MINUTES; n++) {
      const minute = await runMinute(service, store, peak / 2)
      printRow([String(n), ...Object.values(COLUMNS).map((format) => format(minute))])
      minutes.push(minute)
    }
    const counted = minutes.slice(WARM_UP)
    if (counted.length < 2) return
    for (const [name, read] of [
      ['service', (minute: Minute) => minute.serviceMb],
      ['engine', (minute: Minute) => minute.engineMb],
    ] as const) {
      const slope = formatTenths(computeSlope(counted.map(read)))
      console.log(`memory of the ${name} after ${WARM_UP} min: ${slope} MB per 10 min`)
    }
  })
})
