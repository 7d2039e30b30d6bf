/** Measures answers that the service knows already: their time over HTTP, and how many one core gives per second. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readCpuSeconds } from './shared/collecting.js'
import { percentile, withDemoService, type DemoService } from './shared/demo-service.js'
import { formatTenths, formatWhole, printMachine, printTable } from './shared/figures.js'
import { sendLoad } from './shared/http-load.js'

const SECONDS = Number(process.env['SECONDS'] ?? 10)
const CACHE_MB = '64'
const CONNECTIONS = 16

const QUESTIONS: Readonly<Record<string, object>> = {
  'total of 30 days': { date_range: '30days', metrics: ['users', 'pageviews', 'bounce_rate'] },
  '30 days by day': { date_range: '30days', group_by: ['interval:auto'] },
  '30 days by path, 100 rows': { date_range: '30days', group_by: ['page:path'] },
}

/** Sends one question over and over. */
const ask = (service: DemoService, question: object, connections: number) =>
  sendLoad({
    url: `${service.address}/v1/analytics/query`,
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${service.tokens[0]!}` },
    body: () => JSON.stringify(question),
    connections,
    seconds: SECONDS,
  })

async function measure(service: DemoService, name: string, question: object): Promise<string[]> {
  await ask(service, question, 1)
  const alone = await ask(service, question, 1)
  const before = await readCpuSeconds(service.pid)
  const together = await ask(service, question, CONNECTIONS)
  const cpu = (await readCpuSeconds(service.pid)) - before
  return [
    name,
    formatTenths(percentile(alone.latencies, 0.5)),
    formatTenths(percentile(alone.latencies, 0.99)),
    formatWhole(together.rate),
    formatTenths(percentile(together.latencies, 0.5)),
    formatTenths(percentile(together.latencies, 0.99)),
    ((cpu / (together.rate * together.seconds)) * 1_000).toFixed(2),
    [...together.statuses].map(([status, count]) => `${status}: ${formatWhole(count)}`).join(', '),
  ]
}

const lines: string[][] = []
for (const megabytes of [CACHE_MB, '0']) {
  await withDemoService(1, { CACHE_MB: megabytes }, async (service) => {
    // The service has one core, and its ClickHouse and the sender have the others.
    await promisify(execFile)('taskset', ['-acp', '0', String(service.pid)])
    for (const [name, question] of Object.entries(QUESTIONS)) {
      const title = megabytes === '0' ? `${name}, CACHE_MB=0` : name
      lines.push(await measure(service, title, question))
    }
  })
}
await printMachine(new Date())
printTable(
  [
    'question',
    'alone: median ms',
    'p99 ms',
    `${CONNECTIONS} connections: per second`,
    'median ms',
    'p99 ms',
    'CPU ms of the service per answer',
    'responses',
  ],
  lines,
)
