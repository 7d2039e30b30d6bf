/** Runs engines that replicate tables through a ZooKeeper, as servers with the accounts of clickhouse/config do. */
import { spawn, type ChildProcess } from 'node:child_process'
import { open, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import path from 'node:path'
import { writeConfiguration } from '../../../src/clickhouse/embedded/configuration.js'
import { findLibrary, NoEngineError } from '../../../src/clickhouse/embedded/engine-package.js'
import {
  LOCKED,
  READY,
  START,
  type LaunchOptions,
} from '../../../src/clickhouse/embedded/launcher/protocol.js'
import {
  createAddresses,
  getPort,
  type EngineAddress,
} from '../../../src/clickhouse/embedded/member.js'
import { sendStatement } from '../../../src/clickhouse/embedded/send-statement.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { readUsersFile } from '../engine/server.js'
import { createEngineFolder } from '../engine/shared-engine.js'
import { describeFile } from './replicate.mjs'
import { findMissingZooKeeper, startZooKeeper, type ZooKeeper } from './zookeeper.js'

export interface Replica {
  readonly name: string
  readonly endpoint: Endpoint
  readonly nativePort: number
  /** Ends the engine as a power failure of its process does. */
  kill(): Promise<void>
  /** Starts the engine after `kill`. */
  start(): Promise<void>
  /** Removes all that the engine has stored, after `kill`: it starts as a new server does. */
  loseDisk(): Promise<void>
  /** Stops the engine's process in its tracks, until `resume`. */
  suspend(): void
  resume(): void
}

export interface ReplicaGroup {
  readonly keeper: ZooKeeper
  /** Two or more. */
  readonly replicas: readonly [Replica, Replica, ...Replica[]]
  stop(): Promise<void>
}

const LAUNCHER = packagePath('dist/clickhouse/embedded/launcher/launcher.js')
const PATCH = packagePath('test/support/replicas/replicate.mjs')
const LIMITS = { serverMemory: 2 * 1024 ** 3, queryMemory: 1024 ** 3 }

/** Returns why no replicas can run here; undefined if they can. */
export function findMissing(): string | undefined {
  try {
    return describeFile(findLibrary()) ?? findMissingZooKeeper()
  } catch (error) {
    if (error instanceof NoEngineError) return error.reason
    throw error
  }
}

/** Starts a ZooKeeper and engines, `a`, `b` and so on, each with an empty database. */
export async function startReplicas(count = 2): Promise<ReplicaGroup> {
  const folder = await createEngineFolder()
  const keeper = await startZooKeeper(path.join(folder, 'keeper'))
  const addresses = await createAddresses(count)
  const { accounts } = addresses[0]!.endpoint
  const create = ({ endpoint, nativePort }: EngineAddress, n: number): Promise<Replica> =>
    createReplica('abcdefgh'[n]!, {
      folder: path.join(folder, 'abcdefgh'[n]!),
      host: `127.0.0.${11 + n}`,
      endpoint: { ...endpoint, accounts },
      nativePort,
      keeperPort: keeper.port,
    })
  const [first, second, ...others] = await Promise.all(addresses.map(create))
  if (first === undefined || second === undefined) throw new RangeError('at least two replicas')
  const replicas = [first, second, ...others] as const
  await Promise.all(replicas.map((replica) => replica.start()))
  for (const { endpoint } of replicas) {
    await sendStatement(endpoint, 'admin', `CREATE DATABASE ${endpoint.database}`, 60_000)
  }
  return {
    keeper,
    replicas,
    stop: async () => {
      await Promise.all(replicas.map((replica) => replica.kill()))
      await keeper.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface ReplicaOptions {
  readonly folder: string
  /** Where other replicas ask it. Clients reach it on 127.0.0.1. */
  readonly host: string
  readonly endpoint: Endpoint
  readonly nativePort: number
  readonly keeperPort: number
}

async function createReplica(name: string, options: ReplicaOptions): Promise<Replica> {
  const { folder, endpoint, nativePort } = options
  await mkdir(folder, { recursive: true })
  await configure(name, options)
  let child: ChildProcess | undefined
  return {
    name,
    endpoint,
    nativePort,
    async kill() {
      const running = child
      if (running === undefined) return
      child = undefined
      const ended = new Promise((resolve) => running.once('exit', resolve))
      running.kill('SIGKILL')
      await ended
    },
    async start() {
      child = await launch(name, options)
    },
    loseDisk: async () => {
      await rm(path.join(folder, 'data'), { recursive: true })
      await mkdir(path.join(folder, 'data'))
    },
    suspend: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
  }
}

async function configure(
  name: string,
  { folder, host, endpoint, keeperPort }: ReplicaOptions,
): Promise<void> {
  await writeConfiguration(folder, endpoint, LIMITS)
  await writeFile(path.join(folder, 'users.xml'), await readUsersFile(endpoint))
  const file = path.join(folder, 'config.xml')
  const text = await readFile(file, 'utf8')
  // All these engines have one server id, so each has a path for its session. The pools are those of a server: `clickhouse local` fetches
  // one part at a time.
  const replication = (await readReplicaFile())
    .replace(
      '</zookeeper>',
      `  <node><host>127.0.0.1</host><port>${keeperPort}</port></node>
    <sessions_path>/clickhouse/sessions-${name}</sessions_path>
  </zookeeper>`,
    )
    .replace(
      '</clickhouse>',
      `  <listen_host>127.0.0.1</listen_host>
  <listen_host>${host}</listen_host>
  <background_fetches_pool_size>8</background_fetches_pool_size>
  <background_schedule_pool_size>32</background_schedule_pool_size>
</clickhouse>`,
    )
  const others = text.replace(
    /\s*<background_schedule_pool_size>.*?<\/background_schedule_pool_size>/,
    '',
  )
  await writeFile(file, others.replace('</clickhouse>', replication))
}

/** Reads what docker-compose.ha.yml gives its servers, from the first element on, without the addresses of that network. */
async function readReplicaFile(): Promise<string> {
  const text = await readFile(packagePath('clickhouse/config/ha/replica.xml'), 'utf8')
  return text
    .slice(text.indexOf('<clickhouse>') + '<clickhouse>'.length)
    .replaceAll(/\s*<node>.*<\/node>/g, '')
    .replace(/\s*<interserver_http_host .*\/>/, '')
}

/** Starts the launcher of the embedded engine with the patch, and waits until the engine is ready. */
async function launch(
  name: string,
  { folder, host, endpoint, nativePort }: ReplicaOptions,
): Promise<ChildProcess> {
  const port = getPort(endpoint)
  const options: LaunchOptions = {
    engineDir: folder,
    library: findLibrary(),
    port,
    nativePort,
    holder: { pid: process.pid, purpose: 'jest' },
  }
  const lock = await open(path.join(folder, 'lock'), 'w+')
  const child = spawn(process.execPath, ['--import', PATCH, LAUNCHER, JSON.stringify(options)], {
    cwd: folder,
    env: { HOME: folder, TZ: 'UTC', REPLICA_ADDRESS: `${host}:${port}` },
    stdio: ['pipe', 'pipe', 'pipe', lock.fd],
    detached: true,
  })
  await lock.close()
  let output = ''
  child.stderr!.setEncoding('utf8').on('data', (text) => (output += String(text)))
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`replica ${name} ended: ${output}`)))
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line === LOCKED) child.stdin!.write(`${START}\n`)
      if (line === READY) resolve()
    })
  })
  return child
}
