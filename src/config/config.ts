/** Reads the environment variables into a validated Config. */
import { readVariable as read } from './read-variable.js'
import { readServiceAddress, type ServiceAddress } from './service-address.js'
import { readStores } from './stores.js'
import type { Value } from './variables.js'

export { ConfigError } from './config-error.js'

/** The parts of the service that a process runs. */
export type Role = Value<'ROLE'>

/** What a process is configured with. */
export type Config = Readonly<ReturnType<typeof readConfig>>

/**
 * Parses the environment variables.
 *
 * @throws ConfigError for the first variable with an unusable value, or that is set without one it needs
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  return {
    host: read(env, 'HOST'),
    /** 0 lets the system pick a free port. */
    port: read(env, 'PORT'),
    /** The port of the metrics, on the same host; undefined for none. */
    metricsPort: read(env, 'METRICS_PORT'),
    /** The port of management, on the same host; undefined to serve it on `port`. */
    managementPort: read(env, 'MANAGEMENT_PORT'),
    /** The absolute path of the folder for signing keys and the embedded engine. */
    dataDir: read(env, 'DATA_DIR'),
    role: read(env, 'ROLE'),
    /** The number of proxies in front of the service; their `X-Forwarded-For` entries are trusted. */
    trustedProxies: read(env, 'TRUSTED_PROXIES'),
    /** The file name of the tracking script, which is served at `/tally.js`, too. */
    scriptName: read(env, 'SCRIPT_NAME'),
    ...readStores(env),
    /** The absolute path of a GeoIP database; undefined leaves countries and cities empty. */
    geoipDb: read(env, 'GEOIP_DB'),
    /** The longest that an event may have happened before it is sent, except in imports. */
    maxEventAgeDays: read(env, 'MAX_EVENT_AGE_DAYS'),
    logLevel: read(env, 'LOG_LEVEL'),
    /** How long a query may take, including the time that it waits for its turn. */
    queryTimeoutMs: read(env, 'QUERY_TIMEOUT_MS'),
    /** How many queries run at once: per API key, and in all. */
    queriesPerKey: read(env, 'MAX_QUERIES_PER_KEY'),
    queries: read(env, 'MAX_QUERIES'),
    /** How many megabytes of responses are kept in memory; 0 for none. */
    cacheMb: read(env, 'CACHE_MB'),
    /** How many events and bytes a public token and an address may send; 0 for no limit. */
    eventLimits: {
      tokenEventsPerMinute: read(env, 'TOKEN_EVENTS_PER_MINUTE'),
      tokenMbPerMinute: read(env, 'TOKEN_MB_PER_MINUTE'),
      addressEventsPerMinute: read(env, 'ADDRESS_EVENTS_PER_MINUTE'),
      addressMbPerMinute: read(env, 'ADDRESS_MB_PER_MINUTE'),
      tokenEventsPerDay: read(env, 'TOKEN_EVENTS_PER_DAY'),
    },
    /** The values of collected events that may wait to be loaded; 0 for no limit. */
    maxWaitingValues: read(env, 'MAX_WAITING_VALUES'),
    /** Requests per minute and API key; 0 for no limit. */
    rateLimit: read(env, 'RATE_LIMIT'),
    /** Requests per minute to public dashboards: to one of them, and of an address to all of them; 0 for no limit. */
    shareLimits: {
      perDashboard: read(env, 'SHARE_RATE_LIMIT'),
      perAddress: read(env, 'SHARE_RATE_LIMIT_PER_ADDRESS'),
    },
    /** Whether responses are checked against the contract before they are sent. */
    validateResponses: read(env, 'NODE_ENV') !== 'production',
    /** Whether all operations of the contracts are compiled at the start, or else some at their first request. */
    compileAll: read(env, 'NODE_ENV') === 'production',
  }
}

/** Reads where the service is that a command asks. @throws ConfigError that names the variable */
export const readService = (env: NodeJS.ProcessEnv = process.env): ServiceAddress =>
  readServiceAddress(env)
