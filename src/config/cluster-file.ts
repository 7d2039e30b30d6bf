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
interface ListedShard {
  readonly name: string
  /** The scheme, host and port at which the service reaches it, without an account. */
  readonly url: string
  readonly native: NativeAddress
}

export interface ClusterFile {
  /** The database of Tallyhouse, the same on all servers. */
  readonly database: string
  /** In the order of the file: the first is the home. */
  readonly shards: readonly [ListedShard, ...ListedShard[]]
}

export const MAX_SHARDS = 1_000
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
  requireUnique(shards, 'name', (shard) => shard.name)
  requireUnique(shards, 'url', (shard) => shard.url)
  requireUnique(shards, 'native', ({ native }) => `${native.host}:${native.port}`)
  return { database, shards }
}

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
  const at = (key: string): Path => ['shards', index, key]
  const shard = readRecord(value, ['shards', index], ['name', 'url', 'native'], ['secure'])
  const { name, secure = false } = shard
  if (!isShardName(name)) fail(at('name'), NAME_RULE)
  const url = parseShardUrl(shard['url']) ?? fail(at('url'), URL_RULE)
  const native = parseNative(shard['native']) ?? fail(at('native'), NATIVE_RULE)
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

function requireUnique(
  shards: readonly ListedShard[],
  key: string,
  read: (shard: ListedShard) => string,
): void {
  const values = shards.map(read)
  values.forEach((value, index) => {
    const first = values.indexOf(value)
    if (first === index) return
    throw new ConfigError(`CLUSTER: shards.${index}.${key} is the same as shards.${first}.${key}`)
  })
}
