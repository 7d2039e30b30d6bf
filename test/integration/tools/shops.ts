/** A service over two shards with two shops of the same events: one on a shard, one across both. */
import fc from 'fast-check'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { createSentEvent } from '../../support/arbitrary/senders.js'
import { startCluster, type TestCluster } from '../../support/cluster/cluster.js'
import { newWideProject, sendToShards } from '../../support/cluster/wide-world.js'
import { createKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { NOW } from '../../support/world/world.js'

export interface Shop {
  readonly id: string
  /** An API key of the project. */
  readonly key: string
}

export interface Shops {
  readonly cluster: TestCluster
  readonly service: RunningService
  /** On one shard, and across both. */
  readonly narrow: Shop
  readonly wide: Shop
  /** Starts another service over the same shards. */
  start(env?: NodeJS.ProcessEnv): Promise<RunningService>
  stop(): Promise<void>
}

/** The shops are empty before these events, and 60 random ones of other days. */
export const EVENTS = [
  { timestamp: '2026-06-01T10:00:00Z', user_id: 'a', path: '/', country: 'DE' },
  { timestamp: '2026-06-02T10:00:00Z', user_id: 'b', path: '/pricing', country: 'DE' },
  { timestamp: '2026-06-02T10:01:00Z', user_id: 'b', path: '/', country: 'DE' },
  { timestamp: '2026-06-03T10:00:00Z', user_id: 'c', path: '/', country: 'FR' },
  { timestamp: '2026-06-03T10:01:00Z', user_id: 'c', name: 'signup', country: 'FR' },
  { timestamp: '2026-06-04T10:01:00Z', user_id: 'd', path: '/a', country: 'US' },
]
const SEED = 20_260_615
const RANDOM = fc.array(createSentEvent(), { minLength: 60, maxLength: 60, size: 'max' })

/** Starts the service. Its clock stands at `NOW`. */
export async function startShops(): Promise<Shops> {
  const cluster = await startCluster(2)
  const [first, second] = cluster.shards
  const projects = [
    await newWideProject(cluster, [first], { id: 'narrow' }),
    await newWideProject(cluster, [first, second!], { id: 'wide' }),
  ]
  const [random = []] = fc.sample(RANDOM, { seed: SEED, numRuns: 1 })
  const events = [...EVENTS, ...random]
  await sendToShards(
    cluster,
    projects,
    projects.flatMap(({ id }) => events.map((event) => ({ ...event, project: id }))),
  )
  const keys = await createKeys(cluster.home.store)
  const start = (env: NodeJS.ProcessEnv = {}): Promise<RunningService> =>
    startTestService({ store: cluster.home.store, cluster, now: () => NOW, env })
  const service = await start()
  const issue = async (id: string): Promise<Shop> => ({ id, key: await keys.issue(id, NOW) })
  return {
    cluster,
    service,
    narrow: await issue('narrow'),
    wide: await issue('wide'),
    start,
    stop: async () => {
      await service.stop()
      await keys.remove()
      await cluster.stop()
    },
  }
}

/** Sends a body to an operation. */
export const post = (
  { address }: Pick<RunningService, 'address'>,
  { key }: Pick<Shop, 'key'>,
  operation: string,
  body: unknown,
): Promise<Response> =>
  fetch(`${address}/v1/analytics/${operation}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

/** Returns the status and the parsed body of a response. */
export const read = async (response: Response): Promise<{ status: number; body: unknown }> => ({
  status: response.status,
  body: JSON.parse(await response.text()) as unknown,
})
