/** Measures the service under 1, 2, 5 and 10 times the load that it can answer, sent at a fixed rate. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readMemory } from './shared/collecting.js'
import { formatTenths, formatWhole, printMachine, printTable } from './shared/figures.js'
import {
  percentile,
  send,
  withDemoService,
  type Answer,
  type DemoService,
} from './shared/demo-service.js'

const SECONDS = Number(process.env['SECONDS'] ?? 20)
const KEYS = 8
const CONNECTIONS = 16
const TIMEOUT_MS = 2_000
const QUERIES = [
  { date_range: '30days' },
  { date_range: '30days', group_by: ['interval:auto'] },
  { date_range: '30days', group_by: ['page:path'] },
  { date_range: '12months', group_by: ['country'] },
]

const ask = (service: DemoService, n: number, due?: number): Promise<Answer> =>
  send(service, service.tokens[n % KEYS]!, QUERIES[n % QUERIES.length], due)

/** Returns how many queries a second are answered when each connection waits for its response. */
async function findPeak(service: DemoService): Promise<number> {
  let sent = 0
  const begun = performance.now()
  const connection = async (): Promise<void> => {
    while (performance.now() - begun < SECONDS * 1_000) await ask(service, sent++)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  return sent / SECONDS
}

/** Sends at a fixed rate, whether responses come or not. Times count from when a request was due. */
async function load(service: DemoService, rate: number): Promise<readonly Answer[]> {
  const begun = performance.now()
  const answers: Promise<Answer>[] = []
  for (let n = 0; n < rate * SECONDS; n++) {
    const due = begun + (n * 1_000) / rate
    const wait = due - performance.now()
    if (wait > 1) await sleep(wait)
    answers.push(ask(service, n, due).catch(() => ({ status: 0, ms: NaN })))
  }
  return Promise.all(answers)
}

await withDemoService(KEYS, { QUERY_TIMEOUT_MS: String(TIMEOUT_MS) }, async (service) => {
  await findPeak(service)
  const peak = await findPeak(service)
  const lines: string[][] = []
  for (const times of [1, 2, 5, 10]) {
    const answers = await load(service, peak * times)
    const count = (...statuses: number[]): number =>
      answers.filter(({ status }) => statuses.includes(status)).length
    const good = answers.filter(({ status }) => status === 200).map(({ ms }) => ms)
    const refused = answers.filter(({ status }) => [429, 503].includes(status)).map(({ ms }) => ms)
    lines.push([
      `${times} ×`,
      formatWhole(peak * times),
      formatWhole(good.length / SECONDS),
      formatTenths(percentile(good, 0.99)),
      ...[count(429), count(503), count(504), count(0)].map(formatWhole),
      formatTenths(percentile(refused, 0.5)),
      formatWhole(await readMemory(service.pid)),
    ])
  }
  await printMachine(new Date())
  console.log(`peak: ${formatWhole(peak)} queries per second; deadline: ${TIMEOUT_MS} ms\n`)
  printTable(
    [
      'load',
      'sent/s',
      '200/s',
      'p99 of 200',
      '429',
      '503',
      '504',
      'broken',
      'median of refused',
      'MB',
    ],
    lines,
  )
})
