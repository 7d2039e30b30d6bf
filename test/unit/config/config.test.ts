/** The configuration: defaults, each variable, and one-line errors that name the variable. */
import { describe, expect, test } from '@jest/globals'
import path from 'node:path'
import { ConfigError, readConfig, type Config } from '../../../src/config/config.js'

const DEFAULTS: Config = {
  host: '127.0.0.1',
  port: 8080,
  metricsPort: undefined,
  managementPort: undefined,
  dataDir: path.resolve('data'),
  clickhouse: undefined,
  cluster: undefined,
  embeddedShards: 1,
  defaultWidth: 1,
  loader: 'all',
  geoipDb: undefined,
  maxEventAgeDays: 30,
  logLevel: 'info',
  queryTimeoutMs: 10_000,
  queriesPerKey: 4,
  queries: 16,
  cacheMb: 64,
  eventLimits: {
    tokenEventsPerMinute: 3_000_000,
    tokenMbPerMinute: 3_000,
    addressEventsPerMinute: 600_000,
    addressMbPerMinute: 1_000,
    tokenEventsPerDay: 0,
  },
  maxWaitingValues: 200_000,
  rateLimit: 60_000,
  shareLimits: { perDashboard: 60_000, perAddress: 3_000 },
  validateResponses: true,
  compileAll: false,
  role: 'all',
  trustedProxies: 0,
  scriptName: 'tally.js',
}

const URL_ACCOUNT = { username: 'u', password: 'p' }

test.each<{ why: string; env: NodeJS.ProcessEnv; want: Partial<Config> }>([
  { why: 'nothing is set', env: {}, want: {} },
  {
    why: 'all are set to empty values',
    env: { PORT: '', CLICKHOUSE_URL: '', LOG_LEVEL: '' },
    want: {},
  },
  { why: 'unknown variables are set', env: { PATH: '/bin', port: '1' }, want: {} },
  { why: 'a host', env: { HOST: '0.0.0.0' }, want: { host: '0.0.0.0' } },
  { why: 'a port for metrics', env: { METRICS_PORT: '9464' }, want: { metricsPort: 9464 } },
  { why: 'any port', env: { PORT: '0' }, want: { port: 0 } },
  { why: 'a relative folder', env: { DATA_DIR: 'x/y' }, want: { dataDir: path.resolve('x/y') } },
  { why: 'an absolute folder', env: { DATA_DIR: '/x' }, want: { dataDir: '/x' } },
  { why: 'an age', env: { MAX_EVENT_AGE_DAYS: '7' }, want: { maxEventAgeDays: 7 } },
  { why: 'a level', env: { LOG_LEVEL: 'silent' }, want: { logLevel: 'silent' } },
  { why: 'a timeout', env: { QUERY_TIMEOUT_MS: '1' }, want: { queryTimeoutMs: 1 } },
  { why: 'queries', env: { MAX_QUERIES: '32' }, want: { queries: 32 } },
  { why: 'queries of a key', env: { MAX_QUERIES_PER_KEY: '1' }, want: { queriesPerKey: 1 } },
  { why: 'values', env: { MAX_WAITING_VALUES: '0' }, want: { maxWaitingValues: 0 } },
  { why: 'no answers kept', env: { CACHE_MB: '0' }, want: { cacheMb: 0 } },
  { why: 'a rate', env: { RATE_LIMIT: '0' }, want: { rateLimit: 0 } },
  {
    why: 'rates of public dashboards',
    env: { SHARE_RATE_LIMIT: '0', SHARE_RATE_LIMIT_PER_ADDRESS: '7' },
    want: { shareLimits: { perDashboard: 0, perAddress: 7 } },
  },
  { why: 'a role', env: { ROLE: 'collector' }, want: { role: 'collector' } },
  { why: 'proxies', env: { TRUSTED_PROXIES: '2' }, want: { trustedProxies: 2 } },
  { why: 'a script', env: { SCRIPT_NAME: 'hello.js' }, want: { scriptName: 'hello.js' } },
  {
    why: 'a script with all that its name may have',
    env: { SCRIPT_NAME: '_My-app.2.JS.js' },
    want: { scriptName: '_My-app.2.JS.js' },
  },
  {
    why: 'production',
    env: { NODE_ENV: 'production' },
    want: { validateResponses: false, compileAll: true },
  },
  { why: 'engines', env: { EMBEDDED_SHARDS: '3' }, want: { embeddedShards: 3 } },
  {
    why: 'wide projects',
    env: { EMBEDDED_SHARDS: '3', DEFAULT_WIDTH: '3' },
    want: { embeddedShards: 3, defaultWidth: 3 },
  },
  { why: 'no loader', env: { LOADER: 'none' }, want: { loader: 'none' } },
  { why: 'the loader of the only shard', env: { LOADER: 'home' }, want: { loader: ['home'] } },
  {
    why: 'loaders by name',
    env: { EMBEDDED_SHARDS: '3', LOADER: 'shard1, shard3' },
    want: { embeddedShards: 3, loader: ['shard1', 'shard3'] },
  },
  { why: 'tests', env: { NODE_ENV: 'test' }, want: { validateResponses: true } },
])('$why', ({ env, want }) => {
  expect(readConfig(env)).toEqual({ ...DEFAULTS, ...want })
})

test.each<{ why: string; env: NodeJS.ProcessEnv; want: Config['clickhouse'] }>([
  {
    why: 'a whole URL',
    env: { CLICKHOUSE_URL: 'http://u:p@db.example:8123/stats' },
    want: {
      url: 'http://db.example:8123',
      database: 'stats',
      accounts: { admin: URL_ACCOUNT, writer: URL_ACCOUNT, reader: URL_ACCOUNT },
    },
  },
  {
    why: 'a password with percent-encoded characters',
    env: { CLICKHOUSE_URL: 'https://u:p%40%2F%25@db.example/' },
    want: {
      url: 'https://db.example',
      database: 'tallyhouse',
      accounts: {
        admin: { username: 'u', password: 'p@/%' },
        writer: { username: 'u', password: 'p@/%' },
        reader: { username: 'u', password: 'p@/%' },
      },
    },
  },
  {
    why: 'separate accounts',
    env: {
      CLICKHOUSE_URL: 'http://localhost:8123',
      CLICKHOUSE_WRITER_USER: 'w',
      CLICKHOUSE_WRITER_PASSWORD: 'wp',
      CLICKHOUSE_READER_USER: 'r',
    },
    want: {
      url: 'http://localhost:8123',
      database: 'tallyhouse',
      accounts: {
        admin: { username: 'default', password: '' },
        writer: { username: 'w', password: 'wp' },
        reader: { username: 'r', password: '' },
      },
    },
  },
])('a server: $why', ({ env, want }) => {
  expect(readConfig(env).clickhouse).toEqual(want)
})

describe('an error is one line that names the variable', () => {
  test.each([
    [{ PORT: 'http' }, 'PORT must be an integer from 0 to 65535, not "http"'],
    [{ PORT: '65536' }, 'PORT must be an integer from 0 to 65535, not "65536"'],
    [{ PORT: '-1' }, 'PORT must be an integer from 0 to 65535, not "-1"'],
    [{ PORT: '80\n81' }, 'PORT must be an integer from 0 to 65535, not "80\\n81"'],
    [{ QUERY_TIMEOUT_MS: '0' }, 'QUERY_TIMEOUT_MS must be an integer from 1 to 60000, not "0"'],
    [{ QUERY_TIMEOUT_MS: '1.5' }, 'QUERY_TIMEOUT_MS must be an integer from 1 to 60000, not "1.5"'],
    [{ RATE_LIMIT: '1e9' }, 'RATE_LIMIT must be an integer from 0 to 1000000000, not "1e9"'],
    [{ NODE_ENV: 'prod' }, 'NODE_ENV must be one of development, production, test, not "prod"'],
    [
      { CLICKHOUSE_READER_USER: 'r' },
      'CLICKHOUSE_READER_USER needs CLICKHOUSE_URL, which is not set',
    ],
    [
      { CLICKHOUSE_URL: 'http://h', CLICKHOUSE_READER_PASSWORD: 'secret' },
      'CLICKHOUSE_READER_PASSWORD needs CLICKHOUSE_READER_USER, which is not set',
    ],
    [{ CLICKHOUSE_USER: 'a' }, 'CLICKHOUSE_USER needs CLUSTER, which is not set'],
    [
      { CLUSTER: 'c.yaml', CLICKHOUSE_URL: 'http://h' },
      'CLUSTER and CLICKHOUSE_URL exclude each other: set one of them',
    ],
    [
      { CLUSTER: 'c.yaml', EMBEDDED_SHARDS: '3' },
      'CLUSTER and EMBEDDED_SHARDS exclude each other: set one of them',
    ],
    [
      { EMBEDDED_SHARDS: '3', CLICKHOUSE_URL: 'http://h' },
      'EMBEDDED_SHARDS and CLICKHOUSE_URL exclude each other: set one of them',
    ],
    [{ EMBEDDED_SHARDS: '17' }, 'EMBEDDED_SHARDS must be an integer from 1 to 16, not "17"'],
    [
      { EMBEDDED_SHARDS: '4', DEFAULT_WIDTH: '3' },
      'DEFAULT_WIDTH must be a power of two below the number of shards, or that number: not 3 of 4',
    ],
    [
      { LOADER: 'shard1,' },
      'LOADER must be all, none, or names of shards separated by commas, not "shard1,"',
    ],
    [{ EMBEDDED_SHARDS: '2', LOADER: 'shard3' }, 'LOADER: there is no shard shard3'],
    [{ CLUSTER: '/not/there.yaml' }, 'CLUSTER: /not/there.yaml cannot be read (ENOENT)'],
  ])('%j', (env, message) => {
    expect(() => readConfig(env)).toThrow(new ConfigError(message))
  })

  test.each([
    'hello',
    'hello.JS',
    '.js',
    '/hello.js',
    'a/b.js',
    'a b.js',
    'a%20.js',
    'ä.js',
    'a.js?b',
  ])('a script cannot have the name %s', (name) => {
    expect(() => readConfig({ SCRIPT_NAME: name })).toThrow(
      new ConfigError(
        `SCRIPT_NAME must be a file name of letters, digits, -, _ and . that ends in .js, such as hello.js, not ${JSON.stringify(name)}`,
      ),
    )
  })

  test.each([
    'db.example:8123',
    'ftp://u:secret@h/d',
    'http://u:secret@h/d/e',
    'http://u:secret@h/d?x=1',
    'http://u:secret@h/d-e',
    'http://u:secret%zz@h/d',
    'http://u:secret@h:99999/d',
    'http://u:secret@h/default',
    'http://u:secret@h/system',
    'http://u:secret@h/Information_Schema',
  ])('the secret in %s stays out of the error', (url) => {
    expect(() => readConfig({ CLICKHOUSE_URL: url })).toThrow(
      new ConfigError(
        'CLICKHOUSE_URL must be http(s)://user:password@host:port/database, with a database other than default, system and information_schema',
      ),
    )
  })
})
