/**
 * A process that sends a service requests of which no two are alike, and prints by how many bytes its heap grew.
 *
 * The service runs in this process. Its heap is measured from the middle to the end, when buffers have grown.
 */
import http from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { createInstruments } from '../../../src/telemetry/instruments.js'
import { startTestService } from '../world/service.js'

/** What the process is told. */
export interface DistinctRequests {
  readonly endpoint: Endpoint
  readonly key: string
  readonly token: string
  /** How many requests are sent. */
  readonly count: number
}

export interface Outcome {
  /** In bytes, from the middle to the end. */
  readonly growth: number
  /** The statuses of the responses, by the kind of request. */
  readonly statuses: Readonly<Record<string, readonly number[]>>
}

interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const { endpoint, key, token, count } = JSON.parse(process.argv[2] ?? '') as DistinctRequests

/** So long that a service which kept it would be noticed. */
const TEXT_LENGTH = 3_000
const describe = (n: number): string => `${n}-`.padEnd(TEXT_LENGTH, 'abcdefghij')
const json = { 'Content-Type': 'application/json' }
const authorized = { ...json, Authorization: `Bearer ${key}` }
const query = (fields: object): string => JSON.stringify({ date_range: 'today', ...fields })

const KINDS: Readonly<Record<string, (n: number) => Request>> = {
  paths: (n) => ({ method: 'GET', path: `/${describe(n)}`, headers: {} }),
  'request ids': (n) => ({
    method: 'GET',
    path: '/livez',
    headers: { 'X-Request-Id': describe(n).slice(0, 64), traceparent: describe(n) },
  }),
  'content types': (n) => ({
    method: 'POST',
    path: '/v1/analytics/query',
    headers: { ...authorized, 'Content-Type': `text/${describe(n)}` },
    body: query({}),
  }),
  'API keys': (n) => ({
    method: 'GET',
    path: '/v1/project',
    headers: { Authorization: `Bearer ${key.slice(0, -20)}${String(n).padStart(19, 'x')}A` },
  }),
  'public tokens': (n) => ({
    method: 'POST',
    path: '/v1/events',
    headers: json,
    body: JSON.stringify({ token: describe(n).slice(0, token.length) }),
  }),
  'properties of refused queries': (n) => ({
    method: 'POST',
    path: '/v1/analytics/query',
    headers: authorized,
    body: query({ [describe(n)]: 1, group_by: [`event:prop:${describe(n)}`] }),
  }),
  'properties of refused events': (n) => ({
    method: 'POST',
    path: '/v1/events',
    headers: json,
    body: JSON.stringify({ token, [describe(n)]: 1, properties: { [describe(n)]: describe(n) } }),
  }),
}

const AT_ONCE = 8
const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE })

async function send(address: string, { body, path, ...options }: Request): Promise<number> {
  const request = http.request(address + path, { ...options, agent }).end(body)
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  await text(response)
  return response.statusCode ?? 0
}

const kinds = Object.entries(KINDS)
const statuses = new Map(kinds.map(([kind]) => [kind, new Set<number>()]))

async function sendAll(address: string, from: number, to: number): Promise<void> {
  let next = from
  const worker = async (): Promise<void> => {
    for (let n = next++; n < to; n = next++) {
      const [kind, create] = kinds[n % kinds.length]!
      statuses.get(kind)!.add(await send(address, create(n)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function measureHeap(): number {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const store = connectStore(endpoint)
const service = await startTestService({
  store,
  now: () => new Date(),
  instruments: createInstruments({ version: '1', countDroppedLines: () => 0 }),
  env: { RATE_LIMIT: '0' },
})
await sendAll(service.address, 0, count / 2)
const before = measureHeap()
await sendAll(service.address, count / 2, count)
const outcome: Outcome = {
  growth: measureHeap() - before,
  statuses: Object.fromEntries([...statuses].map(([kind, seen]) => [kind, [...seen]])),
}
process.stdout.write(JSON.stringify(outcome))
await service.stop()
await store.close()
agent.destroy()
