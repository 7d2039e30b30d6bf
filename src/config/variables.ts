/** The environment variables, as a table: what each means, its default, and how it is parsed. */
import { anyText, filePath, integer, names, oneOf, password, scriptName } from './value-formats.js'
import { parseServerUrl, SERVER_URL_FORMAT, SERVER_URL_RULE } from './server-url.js'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export const ROLES = ['all', 'api', 'collector'] as const
const ENVIRONMENTS = ['development', 'production', 'test'] as const

/** One environment variable. An empty value counts as not set. */
export interface Variable {
  /** For the help: a noun phrase, or the effect of a value. */
  readonly description: string
  /** The text that is parsed when the variable is not set; null when the value is then undefined. */
  readonly fallback: string | null
  /** What a value must be, for error messages: `NAME must be …`. */
  readonly format: string
  /** Parses the text; returns undefined when it has another format. */
  readonly parse: (text: string) => unknown
  /** True when error messages must not contain the value. */
  readonly secret?: true
}

/** All variables, in the order of the help. */
export const VARIABLES = {
  HOST: { description: 'Address to listen on', fallback: '127.0.0.1', ...anyText },
  PORT: {
    description: 'Port to listen on; 0 picks a free one',
    fallback: '8080',
    ...integer(0, 65_535),
  },
  METRICS_PORT: {
    description:
      'Port for GET /metrics, for Prometheus; 0 picks a free one; if not set, there is none',
    fallback: null,
    ...integer(0, 65_535),
  },
  MANAGEMENT_PORT: {
    description:
      'Port for management, which PORT then does not serve; 0 picks a free one; if not set, PORT serves it',
    fallback: null,
    ...integer(0, 65_535),
  },
  ROLE: {
    description: 'What to run: api answers queries, collector accepts events, all does both',
    fallback: 'all',
    ...oneOf(ROLES),
  },
  TRUSTED_PROXIES: {
    description: 'Number of proxies in front of the service, whose X-Forwarded-For is trusted',
    fallback: '0',
    ...integer(0, 100),
  },
  SCRIPT_NAME: {
    description:
      'Second name of the tracking script, which is served at /SCRIPT_NAME and /tally.js',
    fallback: 'tally.js',
    ...scriptName,
  },
  DATA_DIR: {
    description: 'Folder for the signing keys and the embedded ClickHouse',
    fallback: './data',
    ...filePath,
  },
  CLICKHOUSE_URL: {
    description: `ClickHouse server, ${SERVER_URL_FORMAT}; if not set, an embedded one runs`,
    fallback: null,
    format: SERVER_URL_RULE,
    parse: parseServerUrl,
    secret: true,
  },
  CLICKHOUSE_WRITER_USER: {
    description: 'Account for loading events, if not the one in CLICKHOUSE_URL',
    fallback: null,
    ...anyText,
  },
  CLICKHOUSE_WRITER_PASSWORD: {
    description: 'Password of CLICKHOUSE_WRITER_USER',
    fallback: null,
    ...password,
  },
  CLICKHOUSE_READER_USER: {
    description: 'Account for queries, if not the one in CLICKHOUSE_URL',
    fallback: null,
    ...anyText,
  },
  CLICKHOUSE_READER_PASSWORD: {
    description: 'Password of CLICKHOUSE_READER_USER',
    fallback: null,
    ...password,
  },
  CLUSTER: {
    description: 'YAML file with the ClickHouse servers of a cluster, instead of CLICKHOUSE_URL',
    fallback: null,
    ...filePath,
  },
  CLICKHOUSE_USER: {
    description: 'Account on all servers of CLUSTER, as the one in CLICKHOUSE_URL',
    fallback: null,
    ...anyText,
  },
  CLICKHOUSE_PASSWORD: {
    description: 'Password of CLICKHOUSE_USER',
    fallback: null,
    ...password,
  },
  EMBEDDED_SHARDS: {
    description: 'Number of embedded engines: a cluster on one machine, for trying it',
    fallback: null,
    ...integer(1, 16),
  },
  DEFAULT_WIDTH: {
    description: 'Number of shards that a new project lives on',
    fallback: '1',
    ...integer(1, 1_000),
  },
  LOADER: {
    description: 'Shards whose events this process loads: all, none, or names separated by commas',
    fallback: 'all',
    ...names,
  },
  GEOIP_DB: {
    description: 'GeoIP database (.mmdb) that gives IP addresses a country and a city',
    fallback: null,
    ...filePath,
  },
  MAX_EVENT_AGE_DAYS: {
    description: 'Days that an event may be old when a server or a pipeline sends it',
    fallback: '30',
    ...integer(1, 36_500),
  },
  LOG_LEVEL: { description: 'Lowest level to log', fallback: 'info', ...oneOf(LOG_LEVELS) },
  QUERY_TIMEOUT_MS: {
    description: 'Milliseconds that a query may take',
    fallback: '10000',
    ...integer(1, 60_000),
  },
  MAX_QUERIES: {
    description: 'Queries that run at the same time in all; others wait for their turn',
    fallback: '16',
    ...integer(1, 32),
  },
  MAX_QUERIES_PER_KEY: {
    description: 'Queries of one API key that run at the same time',
    fallback: '4',
    ...integer(1, 32),
  },
  CACHE_MB: {
    description: 'Megabytes of answers to keep in memory; 0 for none',
    fallback: '64',
    ...integer(0, 100_000),
  },
  RATE_LIMIT: {
    description: 'Requests per minute and API key; 0 for no limit',
    fallback: '60000',
    ...integer(0, 1_000_000_000),
  },
  SHARE_RATE_LIMIT: {
    description: 'Requests per minute and public dashboard; 0 for no limit',
    fallback: '60000',
    ...integer(0, 1_000_000_000),
  },
  SHARE_RATE_LIMIT_PER_ADDRESS: {
    description: 'Requests to public dashboards per minute and IP address; 0 for no limit',
    fallback: '3000',
    ...integer(0, 1_000_000_000),
  },
  TOKEN_EVENTS_PER_MINUTE: {
    description: 'Events per minute and public token; 0 for no limit',
    fallback: '3000000',
    ...integer(0, 1_000_000_000),
  },
  TOKEN_MB_PER_MINUTE: {
    description: 'Megabytes of events per minute and public token; 0 for no limit',
    fallback: '3000',
    ...integer(0, 1_000_000),
  },
  TOKEN_EVENTS_PER_DAY: {
    description: 'Events per day and public token; 0 for no limit',
    fallback: '0',
    ...integer(0, 1_000_000_000_000),
  },
  ADDRESS_EVENTS_PER_MINUTE: {
    description: 'Events per minute and IP address; 0 for no limit',
    fallback: '600000',
    ...integer(0, 1_000_000_000),
  },
  ADDRESS_MB_PER_MINUTE: {
    description: 'Megabytes of events per minute and IP address; 0 for no limit',
    fallback: '1000',
    ...integer(0, 1_000_000),
  },
  MAX_WAITING_VALUES: {
    description:
      'Values of events that may wait to be loaded, half of them of one public token; 0 for no limit',
    fallback: '200000',
    ...integer(0, 1_000_000_000),
  },
  NODE_ENV: {
    description:
      'production compiles the whole contract at the start, and skips the check of responses against it',
    fallback: 'development',
    ...oneOf(ENVIRONMENTS),
  },
} as const satisfies Readonly<Record<string, Variable>>

export type VariableName = keyof typeof VARIABLES

/** The parsed value of a variable; undefined only for variables without a `fallback`. */
export type Value<N extends VariableName> =
  | NonNullable<ReturnType<(typeof VARIABLES)[N]['parse']>>
  | ((typeof VARIABLES)[N]['fallback'] extends null ? undefined : never)
