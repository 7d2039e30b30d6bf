/** A service with management over a real store, and what sends requests to it. */
import { afterAll, beforeAll } from '@jest/globals'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { issueAdminKey } from '../../../src/auth/admin-keys.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import type { Store } from '../../../src/clickhouse/store.js'
import type { AdminScope } from '../../../src/contract/admin-scopes.js'
import { createLogger } from '../../../src/lib/log.js'
import { runOperations } from '../../../src/management/run-operations.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createContext } from '../../support/store/loading.js'
import { startTestService } from '../../support/world/service.js'

export const NOW = new Date('2026-03-10T12:00:00.000Z')

export interface Sent {
  readonly status: number
  /** Undefined for a response without a body. */
  readonly body: unknown
  /** The body as it was sent. */
  readonly text: string
  readonly headers: Headers
}

interface SendOptions {
  readonly key?: string
  readonly body?: unknown
  /** A file, in place of a body. */
  readonly file?: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Runs the operations of a store that wait. */
export const runOperationsOf = (store: Store, now: Date): Promise<void> =>
  runOperations({
    cluster: toCluster(store),
    getContext: () => createContext(),
    logger: createLogger('silent'),
    now: () => now,
    waitMs: 0,
  })

/** Declares hooks that start a service over a database of its own. */
export function withManagement(env: NodeJS.ProcessEnv = {}) {
  let database: TestDatabase
  let dataDir: string
  let service: RunningService
  let root: string
  let now = NOW

  const issue = async (
    org: string | null = null,
    scopes?: readonly AdminScope[],
    expiresAt: Date | null = null,
  ): Promise<string> => {
    const asked = scopes === undefined ? {} : { scopes }
    const { secret } = await issueAdminKey(
      database.store,
      { name: 'test', org, expiresAt, ...asked },
      now,
    )
    return secret
  }
  const start = (more: NodeJS.ProcessEnv = {}): Promise<RunningService> =>
    startTestService({
      store: database.store,
      now: () => now,
      env: { DATA_DIR: dataDir, ...env, ...more },
    })

  beforeAll(async () => {
    database = await createDatabase()
    dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-management-'))
    service = await start()
    root = await issue()
  })
  afterAll(async () => {
    await service.stop()
    await database.drop()
    await rm(dataDir, { recursive: true })
  })

  return {
    issue,
    start,
    get store() {
      return database.store
    },
    /** The admin key that may do everything. */
    get root() {
      return root
    },
    get service() {
      return service
    },
    setNow: (time: Date) => {
      now = time
    },
    /** Sends a request, by default with a key that may do everything. */
    send: async (
      method: string,
      target: string,
      { key = root, body, file, headers = {} }: SendOptions = {},
      address = service.managementAddress ?? service.address,
    ): Promise<Sent> => {
      const response = await fetch(address + target, {
        method,
        headers: {
          ...(key === '' ? {} : { Authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(file === undefined ? {} : { body: new Uint8Array(file) }),
      })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
      const parsed: unknown = isJson && text !== '' ? JSON.parse(text) : undefined
      return { status: response.status, body: parsed, text, headers: response.headers }
    },
    /** Runs the operations that wait. */
    runOperations: () => runOperationsOf(database.store, now),
  }
}
