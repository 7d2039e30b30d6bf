/** Measures queries while events are loaded, a third of them late: what a publication costs those who ask meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import { listDue } from '../src/rollups/paired-projects.js'
import { findChild, readCpuSeconds } from './shared/collecting.js'
import { formatTenths, printMachine, printTable } from './shared/figures.js'
import {
  percentile,
  timeInTurn,
  withDemoService,
  withStore,
  type DemoService,
} from './shared/demo-service.js'

const SECONDS = Number(process.env['SECONDS'] ?? 40)
/** Events are sent in requests of ten. */
const EVENTS_PER_SECOND = Number(process.env['EVENTS_PER_SECOND'] ?? 100)
const USERS = 2_000
const HOUR_MS = 3_600_000
const METRICS = ['users', 'visits', 'pageviews', 'bounce_rate']

const QUERIES = {
  '30 days, total': { date_range: '30days', metrics: METRICS },
  '12 months, total': { date_range: '12months', metrics: METRICS },
  '30 days, by page': { date_range: '30days', metrics: METRICS, group_by: ['page:path'] },
  '7 days, by country': { date_range: '7days', metrics: METRICS, group_by: ['country'] },
  '7 days, by hour': { date_range: '7days', metrics: METRICS, group_by: ['interval:hour'] },
}

/** Every third event is up to two days late, so it changes sessions that are stored. */
const createEvent = (n: number) => ({
  name: n % 10 === 0 ? 'signup' : 'pageview',
  user_id: `live-${(n * 7919) % USERS}`,
  path: `/live/${n % 50}`,
  country: ['DE', 'FR', 'BA'][n % 3],
  timestamp: new Date(
    Date.now() - (n % 3 === 0 ? ((n * 104_729) % 48_000) / 1_000 : 0) * HOUR_MS,
  ).toISOString(),
})

/** Sends events at a steady rate until the signal is aborted. */
async function sendEvents(service: DemoService, signal: AbortSignal): Promise<void> {
  const begun = performance.now()
  for (let n = 0; !signal.aborted; n += 10) {
    const due = begun + (n / EVENTS_PER_SECOND) * 1_000
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    const events = Array.from({ length: 10 }, (_, i) => createEvent(n + i))
    const response = await fetch(`${service.address}/v1/events`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${service.publicToken}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ events }),
    })
    const text = await response.text()
    if (response.status !== 202) throw new Error(text)
  }
}

/** Waits until the service has counted the pairs of the demo: that takes its CPU for a minute after its start. */
const waitForPairs = (service: DemoService): Promise<void> =>
  withStore(service, async ({ writer }) => {
    while ((await listDue(writer)).length > 0) await sleep(1_000)
  })

interface Phase {
  /** The milliseconds of each query, by its name. */
  readonly times: Readonly<Record<string, readonly number[]>>
  /** The CPU time per query, in milliseconds, with all else that the process did meanwhile. */
  readonly serviceMs: number
  readonly engineMs: number
}

/** Asks all queries in turn. */
async function ask(service: DemoService): Promise<Phase> {
  const engine = await findChild(service.pid)
  const read = () => Promise.all([readCpuSeconds(service.pid), readCpuSeconds(engine)])
  const before = await read()
  const times = await timeInTurn(service, QUERIES, SECONDS)
  const after = await read()
  const queries = Object.values(times).flat().length
  return {
    times,
    serviceMs: ((after[0] - before[0]) * 1_000) / queries,
    engineMs: ((after[1] - before[1]) * 1_000) / queries,
  }
}

await withDemoService(1, {}, async (service) => {
  await waitForPairs(service)
  await ask(service)
  const quiet = await ask(service)
  const stop = new AbortController()
  const sending = sendEvents(service, stop.signal)
  const live = await ask(service)
  stop.abort()
  await sending
  await printMachine(new Date())
  const format = (name: string, times: readonly number[]): readonly string[] => [
    name,
    ...[0.5, 0.95, 0.99].map((share) => formatTenths(percentile(times, share))),
    String(times.length),
  ]
  printTable(
    ['queries, ms', 'median', 'p95', 'p99', 'asked'],
    [
      format('quiet: all', Object.values(quiet.times).flat()),
      format('live: all', Object.values(live.times).flat()),
      ...Object.entries(live.times).map(([name, times]) => format(`live: ${name}`, times)),
    ],
  )
  console.log()
  const formatCpu = (name: string, { serviceMs, engineMs }: Phase): readonly string[] => [
    name,
    formatTenths(serviceMs),
    formatTenths(engineMs),
  ]
  printTable(
    ['CPU per query, ms', 'service', 'engine'],
    [formatCpu('quiet', quiet), formatCpu('live, with the loads', live)],
  )
})
