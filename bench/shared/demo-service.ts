/** The service in a process, over the events of the demo, with several API keys. */
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { findEngine } from '../../src/clickhouse/embedded/find-engine.js'
import { connectStore, type Store } from '../../src/clickhouse/store.js'
import { topUpDemo } from '../../test/support/store/loading.js'
import { issueToken, startServiceProcess, type RunningService } from './service.js'
import { openBenchStore } from './data-folder.js'

export interface DemoService extends RunningService {
  readonly dataDir: string
  /** The API keys. */
  readonly tokens: readonly string[]
  /** The public token, with which events are sent. */
  readonly publicToken: string
}

/** Calls `work` with the service and `keys` API keys. The data folder is deleted afterwards. */
export async function withDemoService(
  keys: number,
  env: Readonly<Record<string, string>>,
  work: (service: DemoService) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-'))
  try {
    const filled = await fill(dataDir, keys)
    const service = await startServiceProcess(dataDir, env)
    try {
      await work({ ...service, ...filled, dataDir })
    } finally {
      await service.stop()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function fill(
  dataDir: string,
  keys: number,
): Promise<Pick<DemoService, 'tokens' | 'publicToken'>> {
  const now = new Date()
  const opened = await openBenchStore(dataDir)
  try {
    const { project } = await topUpDemo(opened.store, { now })
    const tokens: string[] = []
    for (let i = 0; i < keys; i++) {
      tokens.push(await issueToken(opened.store, dataDir, project.id, now))
    }
    return { tokens, publicToken: project.token }
  } finally {
    await opened.close()
  }
}

/** Calls `work` with the store of a running service. */
export async function withStore<T>(
  { dataDir }: DemoService,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const endpoint = await findEngine(dataDir)
  if (endpoint === undefined) throw new Error('the service has no engine')
  const store = connectStore(endpoint)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

export interface Answer {
  readonly status: number
  /** Milliseconds since `due`. */
  readonly ms: number
}

const agent = new Agent({ keepAlive: true })

/** Sends a query, or reads the project if there is no body. @param due when the request should have been sent */
export const send = (
  { address }: RunningService,
  token: string,
  body: object | undefined,
  due = performance.now(),
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const [target, method] =
      body === undefined
        ? (['/v1/project', 'GET'] as const)
        : (['/v1/analytics/query', 'POST'] as const)
    request(address + target, { method, agent, headers }, (response) => {
      response.resume().on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, ms: performance.now() - due })
      })
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })

/** Sends queries of the first key one after another, for some seconds; returns the milliseconds of each by its name. */
export async function timeInTurn(
  service: DemoService,
  queries: Readonly<Record<string, object | undefined>>,
  seconds: number,
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {}
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until) {
    for (const [name, body] of Object.entries(queries)) {
      const { status, ms } = await send(service, service.tokens[0]!, body)
      if (status !== 200) throw new Error(`${name} got ${status}`)
      times[name] = [...(times[name] ?? []), ms]
    }
  }
  return times
}

/** The value below which this share of the values lies. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? NaN
