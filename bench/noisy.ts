/** Measures what one API key with 64 connections and the dearest query does to another key. */
import { printMachine, printTable, formatTenths } from './shared/figures.js'
import { sendLoad } from './shared/http-load.js'
import { percentile, send, withDemoService, type DemoService } from './shared/demo-service.js'

const SECONDS = Number(process.env['SECONDS'] ?? 20)
const CONNECTIONS = 64
const DEAREST = {
  date_range: '12months',
  metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
  group_by: ['page:path'],
  limit: 1000,
  filters: Array.from({ length: 20 }, (_, i) => ({
    type: 'page',
    path: { operator: 'contains', value: `/x${i}` },
  })),
  filtersOperator: 'or',
}
const NEIGHBOUR = {
  'GET /v1/project': undefined,
  '30 days, total': { date_range: '30days' },
}

/** The times of the neighbour's requests, one after another. */
async function measure(service: DemoService): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {}
  const until = performance.now() + SECONDS * 1_000
  while (performance.now() < until) {
    for (const [name, body] of Object.entries(NEIGHBOUR)) {
      const { status, ms } = await send(service, service.tokens[0]!, body)
      if (status !== 200) throw new Error(`the neighbour got ${status}`)
      times[name] = [...(times[name] ?? []), ms]
    }
  }
  return times
}

await withDemoService(2, { QUERY_TIMEOUT_MS: '10000' }, async (service) => {
  await measure(service)
  const quiet = await measure(service)
  const body = JSON.stringify(DEAREST)
  const other = sendLoad({
    url: `${service.address}/v1/analytics/query`,
    headers: {
      Authorization: `Bearer ${service.tokens[1]!}`,
      'Content-Type': 'application/json',
    },
    body: () => body,
    connections: CONNECTIONS,
    seconds: SECONDS,
  })
  const noisy = await measure(service)
  const { statuses } = await other
  await printMachine(new Date())
  console.log(
    `responses to the other key: ${JSON.stringify(Object.fromEntries(statuses))}; milliseconds\n`,
  )
  printTable(
    ['request', 'quiet median', 'p99', 'beside the other median', 'p99'],
    Object.keys(NEIGHBOUR).map((name) => [
      name,
      ...[quiet, noisy].flatMap((times) =>
        [0.5, 0.99].map((share) => formatTenths(percentile(times[name]!, share))),
      ),
    ]),
  )
})
