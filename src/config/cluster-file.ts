/** Parses the file that lists the ClickHouse servers of a cluster. */
import { parseDocument } from 'yaml'
import { isRecord } from '../lib/records.js'
import { ConfigError } from './config-error.js'
import { DEFAULT_DATABASE, isOwnDatabase } from './server-url.js'
import { SHARD_NAME } from './value-formats.js'

/** The port and host at which the servers of a cluster reach each other: ClickHouse's native protocol. */
export interface NativeAddress {
  readonly host: string
  readonly port: number
  /** Whether the servers talk to each other over TLS. */
  readonly secure: boolean
}

/** A server as the file lists it. */
interface ListedServer {
  /** Of its shard, or of a replica of a shard. */
  readonly name: string
  /** The scheme, host and port at which the service reaches it, without an account. */
  readonly url: string
  readonly native: NativeAddress
}

/** A shard: one server, or several that have the same tables. */
type ListedShard =
  | (ListedServer & { readonly replicas?: undefined })
  | { readonly name: string; readonly replicas: readonly ListedServer[] }

export interface ClusterFile {
  /** The database of Tallyhouse, the same on all servers. */
  readonly database: string
  /** In the order of the file: the first is the home. */
  readonly shards: readonly [ListedShard, ...ListedShard[]]
}

export const MAX_SHARDS = 1_000
const MAX_REPLICAS = 5
/** The values of LOADER that are not names. */
const RESERVED_NAMES = ['all', 'none']
const NATIVE = /^(?<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?<port>\d{1,5})$/

const NAME_RULE = '1 to 64 letters, digits, "_" or "-", and not all or none'
const URL_RULE = 'http(s)://host:port, without an account and a path'
const NATIVE_RULE = 'host:port of the native protocol, such as 10.0.0.1:9000'
const DATABASE_RULE = 'the name of a database other than default, system and information_schema'

/**
 * Parses the text of a cluster file. Unknown, missing and repeated keys are errors.
 *
 * @throws ConfigError of one line, such as `CLUSTER: shards.1.url must be …`. It never contains a value of the file.
 */
export function parseClusterFile(text: string): ClusterFile {
  const document = parseDocument(text, { prettyErrors: false })
  const [problem] = document.errors
  if (problem !== undefined) {
    const line = text.slice(0, problem.pos[0]).split('\n').length
    throw new ConfigError(`CLUSTER: line ${line} is not valid YAML (${problem.code})`)
  }
  const file = readRecord(document.toJS(), [], ['shards'], ['database'])
  const { shards: listed, database = DEFAULT_DATABASE } = file
  if (typeof database !== 'string' || !isOwnDatabase(database)) fail(['database'], DATABASE_RULE)
  const isList = Array.isArray(listed) && listed.length > 0 && listed.length <= MAX_SHARDS
  if (!isList) fail(['shards'], `a list of 1 to ${MAX_SHARDS} servers`)
  const [home, ...others] = listed.map(parseShard)
  if (home === undefined) fail(['shards'], 'a list of servers')
  const shards = [home, ...others] as const
  requireUnique(shards.map(({ name }, i) => ({ path: ['shards', i, 'name'], value: name })))
  const servers = shards.flatMap(listServers)
  requireUnique(servers.map(({ path, server }) => ({ path: [...path, 'url'], value: server.url })))
  requireUnique(
    servers.map(({ path, server: { native } }) => ({
      path: [...path, 'native'],
      value: `${native.host}:${native.port}`,
    })),
  )
  return { database, shards }
}

/** Lists the servers of a shard, each with its place in the file. */
const listServers = (
  shard: ListedShard,
  index: number,
): readonly { readonly path: Path; readonly server: ListedServer }[] =>
  shard.replicas === undefined
    ? [{ path: ['shards', index], server: shard }]
    : shard.replicas.map((server, i) => ({ path: ['shards', index, 'replicas', i], server }))

type Path = readonly (string | number)[]

function fail(path: Path, rule: string): never {
  throw new ConfigError(
    `CLUSTER: ${path.length === 0 ? 'the file' : path.join('.')} must be ${rule}`,
  )
}

/** Returns a mapping with no keys but these. @throws ConfigError for any other value */
function readRecord(
  value: unknown,
  path: Path,
  required: readonly string[],
  optional: readonly string[],
): Readonly<Record<string, unknown>> {
  const keys = [...required, ...optional]
  if (!isRecord(value)) fail(path, `a mapping with ${required.join(', ')}`)
  for (const key of Object.keys(value)) {
    if (keys.includes(key)) continue
    throw new ConfigError(
      `CLUSTER: ${[...path, key].join('.')} is not known: use ${keys.join(', ')}`,
    )
  }
  for (const key of required) {
    if (value[key] !== undefined) continue
    throw new ConfigError(`CLUSTER: ${[...path, key].join('.')} is missing`)
  }
  return value
}

function parseShard(value: unknown, index: number): ListedShard {
  const path = ['shards', index]
  if (!isRecord(value) || value['replicas'] === undefined) return parseServer(value, path)
  const { name, replicas: listed } = readRecord(value, path, ['name', 'replicas'], [])
  if (!isShardName(name)) fail([...path, 'name'], NAME_RULE)
  const at = [...path, 'replicas']
  const isList = Array.isArray(listed) && listed.length > 1 && listed.length <= MAX_REPLICAS
  if (!isList) fail(at, `a list of 2 to ${MAX_REPLICAS} servers`)
  const replicas = listed.map((one, i) => parseServer(one, [...at, i]))
  requireUnique(replicas.map((one, i) => ({ path: [...at, i, 'name'], value: one.name })))
  return { name, replicas }
}

function parseServer(value: unknown, path: Path): ListedServer {
  const at = (key: string): Path => [...path, key]
  const server = readRecord(value, path, ['name', 'url', 'native'], ['secure'])
  const { name, secure = false } = server
  if (!isShardName(name)) fail(at('name'), NAME_RULE)
  const url = parseShardUrl(server['url']) ?? fail(at('url'), URL_RULE)
  const native = parseNative(server['native']) ?? fail(at('native'), NATIVE_RULE)
  if (typeof secure !== 'boolean') fail(at('secure'), 'true or false')
  return { name, url, native: { ...native, secure } }
}

const isShardName = (value: unknown): value is string =>
  typeof value === 'string' && SHARD_NAME.test(value) && !RESERVED_NAMES.includes(value)

function parseShardUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined
  const url = new URL(value)
  const isPlain = url.href === `${url.origin}/` && ['http:', 'https:'].includes(url.protocol)
  return isPlain ? url.origin : undefined
}

function parseNative(value: unknown): Omit<NativeAddress, 'secure'> | undefined {
  const groups = typeof value === 'string' ? NATIVE.exec(value)?.groups : undefined
  const { host, port } = groups ?? {}
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

function requireUnique(entries: readonly { readonly path: Path; readonly value: string }[]): void {
  const values = entries.map(({ value }) => value)
  entries.forEach(({ path, value }, index) => {
    const first = entries[values.indexOf(value)]
    if (first === undefined || first === entries[index]) return
    throw new ConfigError(`CLUSTER: ${path.join('.')} is the same as ${first.path.join('.')}`)
  })
}
