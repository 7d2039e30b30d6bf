/** Reads the environment variables into a validated Config. */
import type { Credentials, Endpoint } from '../clickhouse/endpoint.js'
import { VARIABLES, type Value, type Variable, type VariableName } from './variables.js'

/** Thrown when an environment variable has an unusable value. The message is one line that names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The parts of the service that a process runs. */
export type Role = Value<'ROLE'>

export interface Config {
  readonly host: string
  /** 0 lets the system pick a free port. */
  readonly port: number
  /** The port of the metrics, on the same host; undefined for none. */
  readonly metricsPort: number | undefined
  /** The absolute path of the folder for signing keys and the embedded engine. */
  readonly dataDir: string
  readonly role: Role
  /** The number of proxies in front of the service; their `X-Forwarded-For` entries are trusted. */
  readonly trustedProxies: number
  /** The ClickHouse server; undefined for the embedded engine, which runs in `dataDir`. */
  readonly clickhouse: Endpoint | undefined
  /** The absolute path of a GeoIP database; undefined leaves countries and cities empty. */
  readonly geoipDb: string | undefined
  /** The longest that an event may have happened before it is sent, except in imports. */
  readonly maxEventAgeDays: number
  readonly logLevel: Value<'LOG_LEVEL'>
  /** How long a query may take, including the time that it waits for its turn. */
  readonly queryTimeoutMs: number
  /** How many queries run at once: of one API key, and of all keys together. */
  readonly queriesPerKey: number
  readonly queries: number
  /** How many megabytes of answers are kept in memory; 0 for none. */
  readonly cacheMb: number
  /** How many events and bytes a public token and an address may send; 0 for no limit. */
  readonly eventLimits: {
    readonly tokenEventsPerMinute: number
    readonly tokenMbPerMinute: number
    readonly tokenEventsPerDay: number
    readonly addressEventsPerMinute: number
    readonly addressMbPerMinute: number
  }
  /** The values of collected events that may wait to be loaded; 0 for no limit. */
  readonly maxWaitingValues: number
  /** Requests per minute and API key; 0 for no limit. */
  readonly rateLimit: number
  /** Whether responses are checked against the contract before they are sent. */
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
 * Parses the environment variables.
 *
 * @throws ConfigError for the first variable with an unusable value, or that is set without one it needs
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return {
    host: read(env, 'HOST'),
    port: read(env, 'PORT'),
    metricsPort: read(env, 'METRICS_PORT'),
    dataDir: read(env, 'DATA_DIR'),
    role: read(env, 'ROLE'),
    trustedProxies: read(env, 'TRUSTED_PROXIES'),
    clickhouse: readEndpoint(env),
    geoipDb: read(env, 'GEOIP_DB'),
    maxEventAgeDays: read(env, 'MAX_EVENT_AGE_DAYS'),
    logLevel: read(env, 'LOG_LEVEL'),
    queryTimeoutMs: read(env, 'QUERY_TIMEOUT_MS'),
    queriesPerKey: read(env, 'MAX_QUERIES_PER_KEY'),
    queries: read(env, 'MAX_QUERIES'),
    cacheMb: read(env, 'CACHE_MB'),
    eventLimits: {
      tokenEventsPerMinute: read(env, 'TOKEN_EVENTS_PER_MINUTE'),
      tokenMbPerMinute: read(env, 'TOKEN_MB_PER_MINUTE'),
      addressEventsPerMinute: read(env, 'ADDRESS_EVENTS_PER_MINUTE'),
      addressMbPerMinute: read(env, 'ADDRESS_MB_PER_MINUTE'),
      tokenEventsPerDay: read(env, 'TOKEN_EVENTS_PER_DAY'),
    },
    maxWaitingValues: read(env, 'MAX_WAITING_VALUES'),
    rateLimit: read(env, 'RATE_LIMIT'),
    validateResponses: read(env, 'NODE_ENV') !== 'production',
  }
}

function readEndpoint(env: NodeJS.ProcessEnv): Endpoint | undefined {
  const server = read(env, 'CLICKHOUSE_URL')
  if (server === undefined) {
    for (const name of ACCOUNT_VARIABLES) requireTogether(env, name, 'CLICKHOUSE_URL')
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
  requireTogether(env, password, user)
  const username = read(env, user)
  return username === undefined ? undefined : { username, password: read(env, password) ?? '' }
}

/** @throws ConfigError when `name` is set without `other` */
function requireTogether(env: NodeJS.ProcessEnv, name: VariableName, other: VariableName): void {
  if (readText(env, name) !== undefined && readText(env, other) === undefined) {
    throw new ConfigError(`${name} needs ${other}, which is not set`)
  }
}

/** @throws ConfigError when the value cannot be parsed */
function read<N extends VariableName>(env: NodeJS.ProcessEnv, name: N): Value<N> {
  const { format, fallback, parse, secret }: Variable = VARIABLES[name]
  const text = readText(env, name) ?? fallback
  if (text === null) return undefined as Value<N>
  const value = parse(text)
  if (value !== undefined) return value as Value<N>
  throw new ConfigError(
    `${name} must be ${format}${secret === true ? '' : `, not ${JSON.stringify(text)}`}`,
  )
}

/** Returns the text of a variable; undefined when it is empty or not set. */
const readText = (env: NodeJS.ProcessEnv, name: VariableName): string | undefined =>
  env[name] === '' ? undefined : env[name]
