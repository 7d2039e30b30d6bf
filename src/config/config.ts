/** Reads the environment variables into a validated Config. */
import { readVariable as read } from './read-variable.js'
import { readServiceAddress, type ServiceAddress } from './service-address.js'
import { readStores, type Stores } from './stores.js'
import type { Value } from './variables.js'

export { ConfigError } from './config-error.js'

/** The parts of the service that a process runs. */
export type Role = Value<'ROLE'>

export interface Config extends Stores {
  readonly host: string
  /** 0 lets the system pick a free port. */
  readonly port: number
  /** The port of the metrics, on the same host; undefined for none. */
  readonly metricsPort: number | undefined
  /** The port of management, on the same host; undefined to serve it on `port`. */
  readonly managementPort: number | undefined
  /** The absolute path of the folder for signing keys and the embedded engine. */
  readonly dataDir: string
  readonly role: Role
  /** The number of proxies in front of the service; their `X-Forwarded-For` entries are trusted. */
  readonly trustedProxies: number
  /** The file name of the tracking script, which is served at `/tally.js`, too. */
  readonly scriptName: string
  /** The absolute path of a GeoIP database; undefined leaves countries and cities empty. */
  readonly geoipDb: string | undefined
  /** The longest that an event may have happened before it is sent, except in imports. */
  readonly maxEventAgeDays: number
  readonly logLevel: Value<'LOG_LEVEL'>
  /** How long a query may take, including the time that it waits for its turn. */
  readonly queryTimeoutMs: number
  /** How many queries run at once: per API key, and in all. */
  readonly queriesPerKey: number
  readonly queries: number
  /** How many megabytes of responses are kept in memory; 0 for none. */
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
  /** Requests per minute to public dashboards: to one of them, and of an address to all of them; 0 for no limit. */
  readonly shareLimits: { readonly perDashboard: number; readonly perAddress: number }
  /** Whether responses are checked against the contract before they are sent. */
  readonly validateResponses: boolean
  /** Whether all operations of the contracts are compiled at the start, or else some at their first request. */
  readonly compileAll: boolean
}

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
    managementPort: read(env, 'MANAGEMENT_PORT'),
    dataDir: read(env, 'DATA_DIR'),
    role: read(env, 'ROLE'),
    trustedProxies: read(env, 'TRUSTED_PROXIES'),
    scriptName: read(env, 'SCRIPT_NAME'),
    ...readStores(env),
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
    shareLimits: {
      perDashboard: read(env, 'SHARE_RATE_LIMIT'),
      perAddress: read(env, 'SHARE_RATE_LIMIT_PER_ADDRESS'),
    },
    validateResponses: read(env, 'NODE_ENV') !== 'production',
    compileAll: read(env, 'NODE_ENV') === 'production',
  }
}

/** Reads where the service is that a command asks. @throws ConfigError that names the variable */
export const readService = (env: NodeJS.ProcessEnv = process.env): ServiceAddress =>
  readServiceAddress(env)
