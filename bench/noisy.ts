/** Measures what one API key with 64 connections and the dearest query does to another key. */
import { printMachine, printTable, formatTenths } from './shared/figures.js'
import { sendLoad } from './shared/http-load.js'
import { percentile, timeInTurn, withDemoService } from './shared/demo-service.js'

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

await withDemoService(2, { QUERY_TIMEOUT_MS: '10000' }, async (service) => {
  const measure = () => timeInTurn(service, NEIGHBOUR, SECONDS)
  await measure()
  const quiet = await measure()
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
  const noisy = await measure()
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
