/** A service whose store fails in a chosen way, and a client of it. */
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import type { TestKeys } from '../world/keys.js'
import { startTestService } from '../world/service.js'
import { createWorld, NOW, type SentEvent } from '../world/world.js'

/** A response, or what a client sees instead of one. */
export interface Answer {
  readonly status: number
  /** The code of an error response. */
  readonly code: string | undefined
  readonly retryAfter: string | null
  readonly text: string
}

export interface FaultyService {
  readonly address: string
  /** The service's own connections. */
  readonly store: Store
  /** Whether queries are refused: a value for each change. */
  readonly changes: readonly boolean[]
  /** Asks for the project, or a query. */
  readonly ask: (query?: object, token?: string) => Promise<Answer>
  /** Issues another API key. */
  readonly issue: () => Promise<string>
  readonly stop: () => Promise<void>
}

export interface FaultyServiceOptions {
  /** A store that works. A project is created in it. */
  readonly direct: Store
  /** The keys of that store. */
  readonly keys: TestKeys
  /** What the service connects to. */
  readonly endpoint: Endpoint
  readonly events?: readonly SentEvent[]
  readonly env?: NodeJS.ProcessEnv
}

/** Starts the service. */
export async function startFaultyService({
  direct,
  keys,
  endpoint,
  events = [],
  env = {},
}: FaultyServiceOptions): Promise<FaultyService> {
  const { id } = await createWorld(direct, events)
  const key = await keys.issue(id, NOW)
  const changes: boolean[] = []
  const store = connectStore(endpoint, undefined, undefined, (isOpen) => changes.push(isOpen))
  const service = await startTestService({
    store,
    now: () => NOW,
    env: { ROLE: 'api', ...env },
  })
  return {
    address: service.address,
    store,
    changes,
    ask: (query, token = key) => ask(service.address, token, query),
    issue: () => keys.issue(id, NOW),
    stop: async () => {
      await service.stop()
      await store.close()
    },
  }
}

async function ask(address: string, token: string, query?: object): Promise<Answer> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const response =
    query === undefined
      ? await fetch(`${address}/v1/project`, { headers })
      : await fetch(`${address}/v1/analytics/query`, {
          method: 'POST',
          headers,
          body: JSON.stringify(query),
        })
  const text = await response.text()
  const { error } = JSON.parse(text) as { error?: { code: string } }
  return {
    status: response.status,
    code: error?.code,
    retryAfter: response.headers.get('retry-after'),
    text,
  }
}
