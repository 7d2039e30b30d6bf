/** Runs the service over replicas, as an operator does: with `replicas` in the file that CLUSTER names. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { readConfig } from '../../../src/config/config.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { runCli, type CliResult } from '../cli/cli.js'
import { until } from '../until.js'
import type { ReplicaGroup, Replica } from './replicas.js'

export interface Services {
  /** Starts a service, and resolves once it answers requests. */
  serve(env?: NodeJS.ProcessEnv): Promise<Service>
  /** Runs a command, as `tallyhouse cluster status`. */
  run(...args: readonly string[]): Promise<CliResult>
  /** Runs a command that has to succeed. Returns what it writes. */
  succeed(...args: readonly string[]): Promise<string>
  /** The environment of services and commands. */
  readonly env: NodeJS.ProcessEnv
  /** Opens the store on one replica, beside the services. */
  openReplica(replica: Replica): Store
  /** Stops what was started. */
  stop(): Promise<void>
}

export interface Service {
  readonly address: string
  /** All lines of its log. */
  readonly log: () => string
  readonly pid: number
  stop(): Promise<void>
}

/** A server as a cluster file lists it. */
type Listed = Pick<Replica, 'name' | 'endpoint' | 'nativePort'>

const list = ({ name, endpoint, nativePort }: Listed, indent: string): string =>
  `${indent}- name: ${name}
${indent}  url: ${endpoint.url}
${indent}  native: 127.0.0.1:${nativePort}
`

const writeClusterFile = ({ replicas }: ReplicaGroup, home: readonly Listed[]): string => `
database: ${replicas[0].endpoint.database}
shards:
${home.map((server) => list(server, '  ')).join('')}  - name: shard1
    replicas:
${replicas.map((replica) => list(replica, '      ')).join('')}`

/** @param home a shard on one server with the accounts of the replicas, in front of theirs */
export async function createServices(
  group: ReplicaGroup,
  ...home: readonly Listed[]
): Promise<Services> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'replicated-service-'))
  const file = path.join(folder, 'cluster.yaml')
  await writeFile(file, writeClusterFile(group, home))
  const { admin, writer, reader } = group.replicas[0].endpoint.accounts
  const env = {
    CLUSTER: file,
    DATA_DIR: folder,
    CLICKHOUSE_USER: admin.username,
    CLICKHOUSE_PASSWORD: admin.password,
    CLICKHOUSE_WRITER_USER: writer.username,
    CLICKHOUSE_WRITER_PASSWORD: writer.password,
    CLICKHOUSE_READER_USER: reader.username,
    CLICKHOUSE_READER_PASSWORD: reader.password,
  }
  const services: Service[] = []
  const stores: Store[] = []
  return {
    env,
    run: (...args) => runCli(args, env),
    succeed: async (...args) => {
      const { code, stdout, stderr } = await runCli(args, env)
      if (code !== 0) throw new Error(`${args.join(' ')}: ${code}, ${stderr}`)
      return stdout
    },
    serve: async (more = {}) => {
      const service = await startService({ ...env, ...more })
      services.push(service)
      return service
    },
    openReplica: ({ name }) => {
      const shards = readConfig(env).cluster?.shards ?? []
      const members = shards.flatMap(({ endpoint: { replicas } }) => replicas?.members ?? [])
      const store = connectStore(members.find(({ replica }) => replica.name === name)!)
      stores.push(store)
      return store
    },
    stop: async () => {
      await Promise.all(services.map((service) => service.stop()))
      await Promise.all(stores.map((store) => store.close()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startService(env: NodeJS.ProcessEnv): Promise<Service> {
  const child = spawn(process.execPath, [packagePath('dist/cli.js'), 'serve'], {
    env: { PATH: process.env['PATH'], PORT: '0', RATE_LIMIT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  let hasEnded = false
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      hasEnded = true
      resolve()
    })
  })
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => (log += text))
  }
  const findAddress = (): string | undefined => /"address":"([^"]+)"/.exec(log)?.[1]
  await until(() => {
    if (hasEnded) throw new Error(`the service ended: ${log}`)
    return findAddress() !== undefined
  })
  return {
    address: findAddress()!,
    log: () => log,
    pid: child.pid!,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
