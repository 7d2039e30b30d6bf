/** Runs an engine with the accounts of clickhouse/config/users.xml, as a ClickHouse server has them. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { writeConfiguration } from '../../../src/clickhouse/embedded/configuration.js'
import { findLibrary } from '../../../src/clickhouse/embedded/engine-package.js'
import { launch } from '../../../src/clickhouse/embedded/engine-process.js'
import { getEngineDir, openLock } from '../../../src/clickhouse/embedded/engine-dir.js'
import type { Limits } from '../../../src/clickhouse/embedded/limits.js'
import { getPort } from '../../../src/clickhouse/embedded/member.js'
import { createEndpoint } from '../../../src/clickhouse/embedded/new-endpoint.js'
import type { Account, Endpoint } from '../../../src/clickhouse/endpoint.js'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { ensureRollups } from '../store/loading.js'

/** The account with which the embedded engine logs in at its start. The image of a server has its own. */
const BOOT = `<default><no_password/><networks><ip>127.0.0.1</ip></networks><quota>default</quota>
  <grants><query>GRANT SYSTEM LISTEN ON *.*</query></grants></default>`

/** The account that a service takes as admin if it does not migrate. */
export const SUPERVISOR = { username: 'supervisor', password: 'the-supervisor' }

export interface Server {
  readonly endpoint: Endpoint
  readonly store: Store
  stop(): Promise<void>
}

const LIMITS: Limits = { serverMemory: 4 * 1024 ** 3, queryMemory: 1024 ** 3 }

/** A server that others ask. */
export interface ServerMember {
  readonly endpoint: Endpoint
  readonly nativePort: number
  /** Further files of its configuration, with the passwords that it would read from its environment. */
  readonly files: readonly { readonly path: string; readonly text: string }[]
}

/** Starts the engine and migrates its database. `change` may edit the text of users.xml. */
export async function startServer(
  change = (users: string): string => users,
  limits = LIMITS,
  member?: ServerMember,
): Promise<Server> {
  const stopping = new AbortController()
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-users-'))
  const engineDir = getEngineDir(dataDir)
  await mkdir(engineDir, { recursive: true })
  const endpoint = member?.endpoint ?? (await createEndpoint())
  const lock = await openLock(engineDir)
  const holder = { pid: process.pid, purpose: 'jest' }
  const nativePort = member?.nativePort
  const engine = await launch(
    { engineDir, library: findLibrary(), port: getPort(endpoint), nativePort, holder },
    {
      lock: lock.fd,
      stop: stopping.signal,
      onLocked: async () => {
        await writeConfiguration(engineDir, endpoint, limits)
        await writeFile(path.join(engineDir, 'users.xml'), change(await readUsersFile(endpoint)))
        for (const { path: file, text } of member?.files ?? []) {
          await mkdir(path.dirname(path.join(engineDir, file)), { recursive: true })
          await writeFile(path.join(engineDir, file), enterPasswords(text, endpoint))
        }
      },
    },
  )
  await lock.close()
  await migrate(endpoint)
  const store = connectStore(endpoint)
  await ensureRollups(store)
  return {
    endpoint,
    store,
    stop: async () => {
      await store.close()
      stopping.abort()
      await engine.ended
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Returns the file with the passwords that a server would read from its environment. */
export async function readUsersFile(endpoint: Endpoint): Promise<string> {
  const text = await readFile(packagePath('clickhouse/config/users.xml'), 'utf8')
  return enterPasswords(text, endpoint)
    .replace('<default remove="remove"/>', BOOT)
    .replace('<users>', '<quotas><default/></quotas><users>')
}

const enterPasswords = (text: string, { accounts }: Endpoint): string =>
  text.replaceAll(/<password from_env="CLICKHOUSE_(\w+)_PASSWORD"\/>/g, (_match, name: string) => {
    const account = name.toLowerCase()
    const { password } = account === SUPERVISOR.username ? SUPERVISOR : accounts[account as Account]
    return `<password>${password}</password>`
  })
