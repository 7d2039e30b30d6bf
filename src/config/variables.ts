/** The variables of the environment, as a table: what each means, its default, how it is read. */
import path from 'node:path'
import { readServerUrl, SERVER_URL_FORM } from './server-url.js'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export const ROLES = ['all', 'api', 'collector'] as const
const ENVIRONMENTS = ['development', 'production', 'test'] as const

/** What is known about a variable of the environment. An empty value counts as none. */
export interface Variable {
  readonly meaning: string
  /** The text that is read where the variable has no value; null where that has a meaning itself. */
  readonly fallback: string | null
  /** What a value must be. */
  readonly form: string
  /** Undefined for a text that is not of the form. */
  readonly read: (text: string) => unknown
  /** True where an error must not show the value. */
  readonly secret?: true
}

const anyText = { form: 'text', read: (text: string) => text }
const password = { ...anyText, secret: true } as const
const integer = (min: number, max: number) => ({
  form: `an integer from ${min} to ${max}`,
  read: (text: string) =>
    /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? Number(text)
      : undefined,
})
const oneOf = <Value extends string>(values: readonly Value[]) => ({
  form: `one of ${values.join(', ')}`,
  read: (text: string) => values.find((value) => value === text),
})

/** Every variable there is. */
export const VARIABLES = {
  HOST: { meaning: 'address to listen on', fallback: '127.0.0.1', ...anyText },
  PORT: { meaning: 'port to listen on; 0 for any', fallback: '8080', ...integer(0, 65_535) },
  ROLE: {
    meaning: 'what a service does: api answers questions, collector takes events, all both',
    fallback: 'all',
    ...oneOf(ROLES),
  },
  TRUSTED_PROXIES: {
    meaning: 'proxies in front of the collector: so many tell where a request comes from',
    fallback: '0',
    ...integer(0, 100),
  },
  DATA_DIR: {
    meaning: 'folder of the signing keys and of the embedded ClickHouse',
    fallback: './data',
    form: 'a path',
    read: (text: string) => path.resolve(text),
  },
  CLICKHOUSE_URL: {
    meaning: `ClickHouse to use, ${SERVER_URL_FORM}; without it one runs embedded`,
    fallback: null,
    form: SERVER_URL_FORM,
    read: readServerUrl,
    secret: true,
  },
  CLICKHOUSE_WRITER_USER: {
    meaning: 'account that loads, where it is not the one of CLICKHOUSE_URL',
    fallback: null,
    ...anyText,
  },
  CLICKHOUSE_WRITER_PASSWORD: { meaning: 'its password', fallback: null, ...password },
  CLICKHOUSE_READER_USER: {
    meaning: 'account that queries, where it is not the one of CLICKHOUSE_URL',
    fallback: null,
    ...anyText,
  },
  CLICKHOUSE_READER_PASSWORD: { meaning: 'its password', fallback: null, ...password },
  GEOIP_DB: {
    meaning:
      'file of a GeoIP database (.mmdb) that gives country and city; without it there are none',
    fallback: null,
    form: 'a path',
    read: (text: string) => path.resolve(text),
  },
  LOG_LEVEL: { meaning: 'least level that is logged', fallback: 'info', ...oneOf(LOG_LEVELS) },
  QUERY_TIMEOUT_MS: {
    meaning: 'milliseconds that a query may take',
    fallback: '10000',
    ...integer(1, 60_000),
  },
  RATE_LIMIT: {
    meaning: 'requests per minute and API key; 0 for no limit',
    fallback: '60000',
    ...integer(0, 1_000_000_000),
  },
  NODE_ENV: {
    meaning: 'production does not check responses against the contract; the others do',
    fallback: 'development',
    ...oneOf(ENVIRONMENTS),
  },
} as const satisfies Readonly<Record<string, Variable>>

export type VariableName = keyof typeof VARIABLES

/** What a variable is read as; undefined only where its absence has a meaning. */
export type Value<N extends VariableName> =
  | NonNullable<ReturnType<(typeof VARIABLES)[N]['read']>>
  | ((typeof VARIABLES)[N]['fallback'] extends null ? undefined : never)
