/** Measures the service under 1, 2, 5 and 10 times the load that it can answer, sent at a fixed rate. */
import { readCpuSeconds, readMemory } from './shared/collecting.js'
import { formatTenths, formatWhole, printMachine, printTable } from './shared/figures.js'
import { percentile, withDemoService } from './shared/demo-service.js'
import { sendLoad, type Loaded } from './shared/http-load.js'
import { withStubbedService, type StubbedService } from './shared/stub-service.js'

/** Either service. */
type Service = StubbedService

const SECONDS = Number(process.env['SECONDS'] ?? 20)
const KEYS = 8
const PEAK_CONNECTIONS = 16
/** Enough for a fixed rate: a connection has one query at a time. */
const MAX_CONNECTIONS = 2000
const TIMEOUT_MS = 2_000
const QUERIES = [
  { date_range: '30days' },
  { date_range: '30days', group_by: ['interval:auto'] },
  { date_range: '30days', group_by: ['page:path'] },
  { date_range: '12months', group_by: ['country'] },
]

/** Sends queries of all keys in turn. Without a rate, each connection sends its next query after the response. */
const ask = (
  { address, tokens }: Service,
  how: { readonly connections: number; readonly rate?: number },
): Promise<Loaded> =>
  sendLoad({
    url: `${address}/v1/analytics/query`,
    headers: { 'Content-Type': 'application/json' },
    tokens,
    body: (n) => JSON.stringify(QUERIES[Math.floor(n / KEYS) % QUERIES.length]),
    seconds: SECONDS,
    ...how,
  })

interface Measured extends Loaded {
  readonly good: readonly number[]
  /** Queries answered in each second of CPU time of the service: other processes on the machine change it little. */
  readonly goodPerCpuSecond: number
}

async function measureOne(service: Service, how: Parameters<typeof ask>[1]): Promise<Measured> {
  const before = await readCpuSeconds(service.pid)
  const loaded = await ask(service, how)
  const cpu = (await readCpuSeconds(service.pid)) - before
  const good = loaded.latenciesOf('200')
  return { ...loaded, good, goodPerCpuSecond: good.length / cpu }
}

async function measure(service: Service): Promise<void> {
  await ask(service, { connections: PEAK_CONNECTIONS })
  const peak = await measureOne(service, { connections: PEAK_CONNECTIONS })
  const lines: string[][] = []
  for (const times of [1, 2, 5, 10]) {
    const how = { connections: MAX_CONNECTIONS, rate: peak.rate * times }
    const one = await measureOne(service, how)
    const refused = one.latenciesOf('429', '503')
    lines.push([
      `${times} ×`,
      formatWhole(one.rate),
      formatWhole(one.good.length / one.seconds),
      formatWhole((100 * one.good.length) / one.seconds / peak.rate),
      formatWhole((100 * one.goodPerCpuSecond) / peak.goodPerCpuSecond),
      formatTenths(percentile(one.good, 0.99)),
      formatWhole(one.statuses.get('429') ?? 0),
      formatWhole(one.statuses.get('503') ?? 0),
      formatWhole(one.statuses.get('504') ?? 0),
      formatWhole(one.broken),
      formatTenths(percentile(refused, 0.5)),
      formatWhole(await readMemory(service.pid)),
    ])
  }
  console.log(
    `peak: ${formatWhole(peak.rate)} queries per second, ${formatWhole(peak.goodPerCpuSecond)} per second of CPU time; deadline: ${TIMEOUT_MS} ms\n`,
  )
  printTable(HEAD, lines)
}

const HEAD = [
  'load',
  'sent/s',
  '200/s',
  '% of peak',
  '% per CPU s',
  'p99 of 200',
  '429',
  '503',
  '504',
  'broken',
  'median of refused',
  'MB',
]

const env = { QUERY_TIMEOUT_MS: String(TIMEOUT_MS) }
await printMachine(new Date())
if (process.env['STORE'] !== 'stub') {
  console.log('\nwith the engine:')
  await withDemoService(KEYS, env, measure)
}
console.log('\nwith a stub in place of the engine:')
await withStubbedService(KEYS, env, measure)
