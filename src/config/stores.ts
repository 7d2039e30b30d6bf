/** Reads which stores a service has: embedded engines, one ClickHouse server, or the servers of a cluster. */
import { readFileSync } from 'node:fs'
import { HOME, type Account, type Credentials, type Endpoint } from '../clickhouse/endpoint.js'
import { createReplicaSet } from '../clickhouse/replica-set.js'
import { parseClusterFile, type NativeAddress } from './cluster-file.js'
import { ConfigError } from './config-error.js'
import { readVariable, requireApart, requireTogether } from './read-variable.js'
import { DEFAULT_ACCOUNT } from './server-url.js'
import type { Value, VariableName } from './variables.js'

/** A shard of a cluster: a ClickHouse server, or several replicas. */
interface ConfiguredShard {
  readonly name: string
  readonly endpoint: Endpoint
  /** The address at which the other servers reach it; undefined for replicas, which no query across shards reads. */
  readonly native: NativeAddress | undefined
}

export interface ConfiguredCluster {
  /** The absolute path of the file that lists the servers. */
  readonly file: string
  /** At least one, at most 1,000; the first is the home. They have the same accounts and the same database. */
  readonly shards: readonly [ConfiguredShard, ...ConfiguredShard[]]
}

/** The stores of a service, and how it uses them. */
export interface Stores {
  /** The ClickHouse server, with a cluster its home; undefined for embedded engines, which run in `dataDir`. */
  readonly clickhouse: Endpoint | undefined
  /** The servers of CLUSTER; undefined for a single store and for embedded engines. */
  readonly cluster: ConfiguredCluster | undefined
  /** The number of embedded engines; 1 with servers. */
  readonly embeddedShards: number
  /** How many shards a new project lives on: a power of two, or all of them. */
  readonly defaultWidth: number
  /** The shards whose events this process loads. */
  readonly loader: Value<'LOADER'>
}

const ACCOUNT_VARIABLES = [
  'CLICKHOUSE_WRITER_USER',
  'CLICKHOUSE_WRITER_PASSWORD',
  'CLICKHOUSE_READER_USER',
  'CLICKHOUSE_READER_PASSWORD',
] as const
type AccountVariable =
  (typeof ACCOUNT_VARIABLES)[number] | 'CLICKHOUSE_USER' | 'CLICKHOUSE_PASSWORD'

/** @throws ConfigError for the first variable that is unusable, alone or beside another one */
export function readStores(env: NodeJS.ProcessEnv): Stores {
  requireApart(env, 'CLUSTER', 'CLICKHOUSE_URL')
  requireApart(env, 'CLUSTER', 'EMBEDDED_SHARDS')
  requireApart(env, 'EMBEDDED_SHARDS', 'CLICKHOUSE_URL')
  for (const name of ['CLICKHOUSE_USER', 'CLICKHOUSE_PASSWORD'] as const) {
    requireTogether(env, name, 'CLUSTER')
  }
  const cluster = readCluster(env)
  const clickhouse = cluster?.shards[0].endpoint ?? readServer(env)
  const embeddedShards = readVariable(env, 'EMBEDDED_SHARDS') ?? 1
  const names = listShardNames({ cluster, embeddedShards })
  return {
    clickhouse,
    cluster,
    embeddedShards,
    defaultWidth: readWidth(env, names.length, cluster),
    loader: readLoader(env, names),
  }
}

/** Returns the names of the stores of a service without servers: `shard1`, `shard2`, …; a single one is `home`. */
export const nameEmbeddedShards = (count: number): readonly string[] =>
  count === 1 ? [HOME] : Array.from({ length: count }, (_, i) => `shard${i + 1}`)

/** Returns the names of the stores of a configuration, the home first. */
export const listShardNames = ({
  cluster,
  embeddedShards,
}: Pick<Stores, 'cluster' | 'embeddedShards'>): readonly string[] =>
  cluster?.shards.map(({ name }) => name) ?? nameEmbeddedShards(embeddedShards)

function readCluster(env: NodeJS.ProcessEnv): ConfiguredCluster | undefined {
  const file = readVariable(env, 'CLUSTER')
  if (file === undefined) return undefined
  const { database, shards } = parseClusterFile(readText(file))
  const admin = readAccount(env, 'CLICKHOUSE_USER', 'CLICKHOUSE_PASSWORD')
  const accounts = readAccounts(env, admin ?? { username: DEFAULT_ACCOUNT, password: '' })
  const [home, ...others] = shards
  const configure = (shard: typeof home): ConfiguredShard => {
    const { name } = shard
    if (shard.replicas === undefined) {
      return { name, endpoint: { url: shard.url, database, accounts }, native: shard.native }
    }
    const path = `/tallyhouse/${database}/${name}`
    const replicas = createReplicaSet({ database, accounts }, path, shard.replicas)
    const url = shard.replicas.map((one) => one.url).join(', ')
    return { name, endpoint: { url, database, accounts, replicas }, native: undefined }
  }
  return { file, shards: [configure(home), ...others.map(configure)] }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError(`CLUSTER: ${file} cannot be read (${code ?? 'unknown error'})`)
  }
}

function readServer(env: NodeJS.ProcessEnv): Endpoint | undefined {
  const server = readVariable(env, 'CLICKHOUSE_URL')
  if (server === undefined) {
    for (const name of ACCOUNT_VARIABLES) requireTogether(env, name, 'CLICKHOUSE_URL')
    return undefined
  }
  const { url, database, account } = server
  return { url, database, accounts: readAccounts(env, account) }
}

const readAccounts = (
  env: NodeJS.ProcessEnv,
  admin: Credentials,
): Readonly<Record<Account, Credentials>> => ({
  admin,
  writer: readAccount(env, 'CLICKHOUSE_WRITER_USER', 'CLICKHOUSE_WRITER_PASSWORD') ?? admin,
  reader: readAccount(env, 'CLICKHOUSE_READER_USER', 'CLICKHOUSE_READER_PASSWORD') ?? admin,
})

function readAccount(
  env: NodeJS.ProcessEnv,
  user: AccountVariable,
  password: AccountVariable,
): Credentials | undefined {
  requireTogether(env, password, user)
  const username = readVariable(env, user)
  return username === undefined
    ? undefined
    : { username, password: readVariable(env, password) ?? '' }
}

function readWidth(
  env: NodeJS.ProcessEnv,
  shards: number,
  cluster: ConfiguredCluster | undefined,
): number {
  const name: VariableName = 'DEFAULT_WIDTH'
  const width = readVariable(env, name)
  if (width > 1 && cluster?.shards.some(({ endpoint }) => endpoint.replicas) === true) {
    throw new ConfigError(`${name} must be 1: no project lives across shards that have replicas`)
  }
  const isUsable = width === shards || (width < shards && Number.isInteger(Math.log2(width)))
  if (isUsable) return width
  throw new ConfigError(
    `${name} must be a power of two below the number of shards, or that number: not ${width} of ${shards}`,
  )
}

function readLoader(env: NodeJS.ProcessEnv, names: readonly string[]): Stores['loader'] {
  const loader = readVariable(env, 'LOADER')
  if (typeof loader === 'string') return loader
  const unknown = loader.find((name) => !names.includes(name))
  if (unknown === undefined) return loader
  throw new ConfigError(`LOADER: there is no shard ${unknown}`)
}
