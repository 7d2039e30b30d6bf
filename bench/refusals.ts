/** Measures floods of requests that are refused: invalid queries, and made-up public tokens beside valid ones. */
import { randomId } from '../src/lib/random-id.js'
import { createPublicToken } from '../src/projects/public-token.js'
import { createVisit, readMemory } from './shared/collecting.js'
import { percentile, withDemoService, type DemoService } from './shared/demo-service.js'
import { formatTenths, formatWhole, printMachine, printTable } from './shared/figures.js'
import { sendLoad, type Load, type Loaded } from './shared/http-load.js'

const SECONDS = Number(process.env['SECONDS'] ?? 30)
const INVALID_PER_SECOND = 1_000
const TOKENS_PER_SECOND = 2_000
const VALID_PER_SECOND = 20
const CONNECTIONS = 64
const JSON_TYPE = { 'Content-Type': 'application/json' }

const INVALID = [
  '{"date_range":',
  '{}',
  '{"date_range":"30days","metrics":["users"],"colour":"red"}',
  '{"date_range":"31days","metrics":["users"]}',
  '{"date_range":["2026-02-01","2026-01-01"],"metrics":["users"]}',
  '{"date_range":"30days","metrics":["users"],"filters":[{"type":"weather"}]}',
]

/** How made-up tokens look: as those of earlier versions, with a wrong check sum, or with a right one. */
const TOKENS = [() => randomId('tallypub_', 24), () => randomId('tallypub_', 30), createPublicToken]

const describe = (
  name: string,
  { rate, latencies, statuses }: Loaded,
  megabytes: string,
): string[] => [
  name,
  formatWhole(rate),
  formatTenths(percentile(latencies, 0.5)),
  formatTenths(percentile(latencies, 0.99)),
  [...statuses].map(([status, count]) => `${status}: ${formatWhole(count)}`).join(', '),
  megabytes,
]

async function measureInvalid(service: DemoService): Promise<string[]> {
  const load: Omit<Load, 'seconds'> = {
    url: `${service.address}/v1/analytics/query`,
    headers: { ...JSON_TYPE, Authorization: `Bearer ${service.tokens[0]!}` },
    body: (n) => INVALID[n % INVALID.length]!,
    connections: CONNECTIONS,
    rate: INVALID_PER_SECOND,
  }
  await sendLoad({ ...load, seconds: SECONDS / 2 })
  const before = await readMemory(service.pid)
  const loaded = await sendLoad({ ...load, seconds: SECONDS })
  const after = await readMemory(service.pid)
  return describe('invalid queries', loaded, `${formatWhole(before)} → ${formatWhole(after)}`)
}

async function measureTokens(service: DemoService): Promise<string[][]> {
  const url = `${service.address}/v1/events`
  const valid = { connections: 4, seconds: SECONDS, rate: VALID_PER_SECOND }
  const before = await readMemory(service.pid)
  const [flood, events, queries] = await Promise.all([
    sendLoad({
      url,
      headers: JSON_TYPE,
      body: (n) => JSON.stringify({ ...createVisit(n), token: TOKENS[n % TOKENS.length]!() }),
      connections: CONNECTIONS,
      seconds: SECONDS,
      rate: TOKENS_PER_SECOND,
    }),
    sendLoad({
      ...valid,
      url,
      headers: { ...JSON_TYPE, Authorization: `Bearer ${service.publicToken}` },
      body: (n) => JSON.stringify(createVisit(n)),
    }),
    sendLoad({
      ...valid,
      url: `${service.address}/v1/analytics/query`,
      headers: { ...JSON_TYPE, Authorization: `Bearer ${service.tokens[0]!}` },
      body: () => '{"date_range":"30days","metrics":["users"]}',
    }),
  ])
  const after = await readMemory(service.pid)
  return [
    describe('made-up tokens', flood, `${formatWhole(before)} → ${formatWhole(after)}`),
    describe('valid events beside them', events, ''),
    describe('valid queries beside them', queries, ''),
  ]
}

await withDemoService(1, {}, async (service) => {
  const lines = [await measureInvalid(service), ...(await measureTokens(service))]
  await printMachine(new Date())
  printTable(['requests', 'per second', 'median ms', 'p99 ms', 'responses', 'service MB'], lines)
})
