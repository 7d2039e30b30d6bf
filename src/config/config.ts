/** Reads the environment, once, into a checked Config. */
import type { Credentials, Endpoint } from '../clickhouse/endpoint.js'
import { VARIABLES, type Value, type Variable, type VariableName } from './variables.js'

/** A variable of the environment cannot be used; the message is one line and names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** What a service does. */
export type Role = Value<'ROLE'>

export interface Config {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /** An absolute path. */
  readonly dataDir: string
  readonly role: Role
  /** How many proxies stand in front: they are believed where a request comes from. */
  readonly trustedProxies: number
  /** The ClickHouse to use; without it the service runs its own under `dataDir`. */
  readonly clickhouse: Endpoint | undefined
  /** The GeoIP database to use, an absolute path; without it addresses have no place. */
  readonly geoipDb: string | undefined
  readonly logLevel: Value<'LOG_LEVEL'>
  /** Milliseconds that a query may take. */
  readonly queryTimeout: number
  /** Requests per minute and API key; 0 is without limit. */
  readonly rateLimit: number
  /** Whether each response is checked against the contract before it is sent. */
  readonly validateResponses: boolean
}

const ACCOUNT_VARIABLES = [
  'CLICKHOUSE_WRITER_USER',
  'CLICKHOUSE_WRITER_PASSWORD',
  'CLICKHOUSE_READER_USER',
  'CLICKHOUSE_READER_PASSWORD',
] as const
type AccountVariable = (typeof ACCOUNT_VARIABLES)[number]

/**
 * The configuration that an environment describes.
 *
 * @throws ConfigError on the first variable that cannot be used.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return {
    host: read(env, 'HOST'),
    port: read(env, 'PORT'),
    dataDir: read(env, 'DATA_DIR'),
    role: read(env, 'ROLE'),
    trustedProxies: read(env, 'TRUSTED_PROXIES'),
    clickhouse: readEndpoint(env),
    geoipDb: read(env, 'GEOIP_DB'),
    logLevel: read(env, 'LOG_LEVEL'),
    queryTimeout: read(env, 'QUERY_TIMEOUT_MS'),
    rateLimit: read(env, 'RATE_LIMIT'),
    validateResponses: read(env, 'NODE_ENV') !== 'production',
  }
}

function readEndpoint(env: NodeJS.ProcessEnv): Endpoint | undefined {
  const server = read(env, 'CLICKHOUSE_URL')
  if (server === undefined) {
    for (const name of ACCOUNT_VARIABLES) needs(env, name, 'CLICKHOUSE_URL')
    return undefined
  }
  const { url, database, account: admin } = server
  const writer = readAccount(env, 'CLICKHOUSE_WRITER_USER', 'CLICKHOUSE_WRITER_PASSWORD') ?? admin
  const reader = readAccount(env, 'CLICKHOUSE_READER_USER', 'CLICKHOUSE_READER_PASSWORD') ?? admin
  return { url, database, accounts: { admin, writer, reader } }
}

function readAccount(
  env: NodeJS.ProcessEnv,
  user: AccountVariable,
  password: AccountVariable,
): Credentials | undefined {
  needs(env, password, user)
  const username = read(env, user)
  return username === undefined ? undefined : { username, password: read(env, password) ?? '' }
}

function needs(env: NodeJS.ProcessEnv, name: VariableName, other: VariableName): void {
  if (textOf(env, name) !== undefined && textOf(env, other) === undefined) {
    throw new ConfigError(`${name} needs ${other}, which is not set`)
  }
}

function read<N extends VariableName>(env: NodeJS.ProcessEnv, name: N): Value<N> {
  const { form, fallback, read: parse, ...variable }: Variable = VARIABLES[name]
  const text = textOf(env, name) ?? fallback
  if (text === null) return undefined as Value<N>
  const value = parse(text)
  if (value !== undefined) return value as Value<N>
  const shown = variable.secret === true ? '' : `, not ${JSON.stringify(text)}`
  throw new ConfigError(`${name} must be ${form}${shown}`)
}

const textOf = (env: NodeJS.ProcessEnv, name: VariableName): string | undefined =>
  env[name] === '' ? undefined : env[name]
