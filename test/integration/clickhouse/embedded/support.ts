/** Creates folders, engines, clients and processes that are cleaned up after each test. */
import { afterEach } from '@jest/globals'
import { createClient, type ClickHouseClient } from '@clickhouse/client'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import {
  startEngine,
  type Engine,
  type EngineEvent,
} from '../../../../src/clickhouse/embedded/engine.js'
import { isAlive } from '../../../../src/clickhouse/embedded/engine-dir.js'
import type { Account, Endpoint } from '../../../../src/clickhouse/endpoint.js'
import { packagePath } from '../../../../src/lib/package-path.js'
import { until } from '../../../support/until.js'

const leftovers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const remove of leftovers.splice(0).reverse()) await remove()
})

/** Creates a data folder, which is deleted after the test. */
export async function aDataDir(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-embedded-'))
  leftovers.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts an engine of this process, which is stopped after the test at the latest. Adds its events to `events`. */
export async function anEngine(dataDir: string, events: EngineEvent[] = []): Promise<Engine> {
  const onEvent = (event: EngineEvent): unknown => events.push(event)
  const engine = await startEngine({ dataDir, purpose: 'a test', onEvent })
  leftovers.push(() => engine.stop())
  return engine
}

/** Creates a client with one account, which is closed after the test. */
export function aClient(endpoint: Endpoint, account: Account): ClickHouseClient {
  const { username, password } = endpoint.accounts[account]
  const client = createClient({
    url: endpoint.url,
    username,
    password,
    database: endpoint.database,
    log: { level: 127 },
  })
  leftovers.push(() => client.close())
  return client
}

/** Another process, which runs a function of `process.ts`. */
export interface OtherProcess {
  readonly child: ChildProcess
  /** Its output, as JSON. */
  readonly said: unknown
}

/** Starts `process.ts` and waits for its line; the process is killed after the test at the latest. */
export async function anotherProcess(...args: readonly string[]): Promise<OtherProcess> {
  const script = packagePath('test/integration/clickhouse/embedded/process.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...args], {
    cwd: packagePath('.'),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  leftovers.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'close')
  })
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  return { child, said: JSON.parse(line) as unknown }
}

/** Waits until a process has ended. */
export const gone = (pid: number): Promise<unknown> => until(() => !isAlive(pid))

/** Waits until an engine answers a query of this client. */
export const answering = (client: ClickHouseClient): Promise<unknown> =>
  until(async () => (await client.ping({ select: true })).success)
