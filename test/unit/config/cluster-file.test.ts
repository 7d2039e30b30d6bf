/** The file of a cluster: what it gives, and errors that name the path in it. */
import { afterAll, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { MAX_SHARDS, parseClusterFile } from '../../../src/config/cluster-file.js'
import { ConfigError } from '../../../src/config/config-error.js'
import { readConfig } from '../../../src/config/config.js'

const TWO = `# Two servers.
database: stats
shards:
  - name: eu-1
    url: http://10.0.0.1:8123
    native: 10.0.0.1:9000
  - name: eu_2
    url: https://db.example/
    native: '[fd00::2]:9440'
    secure: true
`

test('a file', () => {
  expect(parseClusterFile(TWO)).toEqual({
    database: 'stats',
    shards: [
      {
        name: 'eu-1',
        url: 'http://10.0.0.1:8123',
        native: { host: '10.0.0.1', port: 9000, secure: false },
      },
      {
        name: 'eu_2',
        url: 'https://db.example',
        native: { host: 'fd00::2', port: 9440, secure: true },
      },
    ],
  })
})

test('the database has a default', () => {
  expect(parseClusterFile(TWO.replace('database: stats\n', '')).database).toBe('tallyhouse')
})

const URL_RULE = 'must be http(s)://host:port, without an account and a path'

test.each<{ why: string; from: string | RegExp; to: string; want: string }>([
  { why: 'an empty file', from: /[^]*/, to: '', want: 'the file must be a mapping with shards' },
  { why: 'no mapping', from: /[^]*/, to: 'a', want: 'the file must be a mapping with shards' },
  {
    why: 'no list',
    from: /shards:[^]*/,
    to: 'shards: 3',
    want: 'shards must be a list of 1 to 1000 servers',
  },
  {
    why: 'an empty list',
    from: /shards:[^]*/,
    to: 'shards: []',
    want: 'shards must be a list of 1 to 1000 servers',
  },
  { why: 'no shards', from: /shards:[^]*/, to: '', want: 'shards is missing' },
  {
    why: 'an unknown key',
    from: 'database',
    to: 'databse',
    want: 'databse is not known: use shards, database',
  },
  {
    why: 'a database of the server',
    from: 'stats',
    to: 'System',
    want: 'database must be the name of a database other than default, system and information_schema',
  },
  {
    why: 'a database that is no name',
    from: 'stats',
    to: '12',
    want: 'database must be the name of a database other than default, system and information_schema',
  },
  {
    why: 'a shard that is no mapping',
    from: /shards:[^]*/,
    to: 'shards: [a]',
    want: 'shards.0 must be a mapping with name, url, native',
  },
  {
    why: 'an unknown key of a shard',
    from: 'secure',
    to: 'password',
    want: 'shards.1.password is not known: use name, url, native, secure',
  },
  {
    why: 'a missing key of a shard',
    from: 'name: eu_2\n    ',
    to: '',
    want: 'shards.1.name is missing',
  },
  {
    why: 'a name with other characters',
    from: 'eu-1',
    to: 'eu.1',
    want: 'shards.0.name must be 1 to 64 letters, digits, "_" or "-", and not all or none',
  },
  {
    why: 'a name with another meaning',
    from: 'eu-1',
    to: 'none',
    want: 'shards.0.name must be 1 to 64 letters, digits, "_" or "-", and not all or none',
  },
  {
    why: 'a URL with a password',
    from: 'http://10',
    to: 'http://u:secret@10',
    want: `shards.0.url ${URL_RULE}`,
  },
  {
    why: 'a URL with a path',
    from: '.example/',
    to: '.example/stats',
    want: `shards.1.url ${URL_RULE}`,
  },
  { why: 'a URL of another kind', from: 'https', to: 'ftp', want: `shards.1.url ${URL_RULE}` },
  {
    why: 'an address without a port',
    from: ':9000',
    to: '',
    want: 'shards.0.native must be host:port of the native protocol, such as 10.0.0.1:9000',
  },
  {
    why: 'a port that is none',
    from: ':9000',
    to: ':90000',
    want: 'shards.0.native must be host:port of the native protocol, such as 10.0.0.1:9000',
  },
  {
    why: 'secure that is no boolean',
    from: 'secure: true',
    to: 'secure: 1',
    want: 'shards.1.secure must be true or false',
  },
  {
    why: 'equal names',
    from: 'eu_2',
    to: 'eu-1',
    want: 'shards.1.name is the same as shards.0.name',
  },
  {
    why: 'equal URLs',
    from: 'https://db.example/',
    to: 'http://10.0.0.1:8123/',
    want: 'shards.1.url is the same as shards.0.url',
  },
  {
    why: 'equal addresses',
    from: "'[fd00::2]:9440'",
    to: '10.0.0.1:9000',
    want: 'shards.1.native is the same as shards.0.native',
  },
  {
    why: 'no YAML',
    from: 'name: eu-1',
    to: 'name: {',
    want: 'line 5 is not valid YAML (BAD_INDENT)',
  },
  {
    why: 'a repeated key',
    from: 'secure: true',
    to: 'name: eu_2',
    want: 'line 10 is not valid YAML (DUPLICATE_KEY)',
  },
])('$why', ({ from, to, want }) => {
  expect(() => parseClusterFile(TWO.replace(from, to))).toThrow(new ConfigError(`CLUSTER: ${want}`))
})

const REPLICATED = `shards:
  - name: shard1
    replicas:
      - name: a
        url: http://10.0.0.1:8123
        native: 10.0.0.1:9000
      - name: b
        url: http://10.0.0.2:8123
        native: 10.0.0.2:9000
`

test('a shard with replicas', () => {
  const server = (name: string, host: string): object => ({
    name,
    url: `http://${host}:8123`,
    native: { host, port: 9000, secure: false },
  })
  expect(parseClusterFile(REPLICATED).shards).toEqual([
    { name: 'shard1', replicas: [server('a', '10.0.0.1'), server('b', '10.0.0.2')] },
  ])
})

test.each<{ why: string; from: string | RegExp; to: string; want: string }>([
  {
    why: 'one replica',
    from: / +- name: b[^]*/,
    to: '',
    want: 'shards.0.replicas must be a list of 2 to 5 servers',
  },
  {
    why: 'two replicas with one name',
    from: 'name: b',
    to: 'name: a',
    want: 'shards.0.replicas.1.name is the same as shards.0.replicas.0.name',
  },
  {
    why: 'two replicas on one server',
    from: 'http://10.0.0.2',
    to: 'http://10.0.0.1',
    want: 'shards.0.replicas.1.url is the same as shards.0.replicas.0.url',
  },
  {
    why: 'replicas beside an address',
    from: 'name: shard1',
    to: 'name: shard1\n    url: http://10.0.0.3:8123',
    want: 'shards.0.url is not known: use name, replicas',
  },
  {
    why: 'a replica without a native address',
    from: '        native: 10.0.0.2:9000\n',
    to: '',
    want: 'shards.0.replicas.1.native is missing',
  },
])('replicas: $why', ({ from, to, want }) => {
  expect(() => parseClusterFile(REPLICATED.replace(from, to))).toThrow(
    new ConfigError(`CLUSTER: ${want}`),
  )
})

test('too many shards', () => {
  const list = (count: number): string =>
    `shards:\n${Array.from({ length: count }, (_, i) => `- { name: s${i}, url: 'http://h${i}', native: 'h${i}:9000' }\n`).join('')}`
  expect(parseClusterFile(list(MAX_SHARDS)).shards).toHaveLength(MAX_SHARDS)
  expect(() => parseClusterFile(list(MAX_SHARDS + 1))).toThrow(
    new ConfigError('CLUSTER: shards must be a list of 1 to 1000 servers'),
  )
})

const folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-cluster-'))
afterAll(() => rm(folder, { recursive: true }))

test('the variables give all servers their accounts', async () => {
  const file = path.join(folder, 'cluster.yaml')
  await writeFile(file, TWO)
  const admin = { username: 'a', password: 'ap' }
  const reader = { username: 'r', password: 'rp' }
  const accounts = { admin, writer: admin, reader }
  const first = { url: 'http://10.0.0.1:8123', database: 'stats', accounts }
  const env = {
    CLUSTER: file,
    CLICKHOUSE_USER: 'a',
    CLICKHOUSE_PASSWORD: 'ap',
    CLICKHOUSE_READER_USER: 'r',
    CLICKHOUSE_READER_PASSWORD: 'rp',
    DEFAULT_WIDTH: '2',
    LOADER: 'eu_2',
  }
  expect(readConfig(env)).toEqual({
    ...readConfig({}),
    clickhouse: first,
    cluster: {
      file,
      shards: [
        { name: 'eu-1', endpoint: first, native: { host: '10.0.0.1', port: 9000, secure: false } },
        {
          name: 'eu_2',
          endpoint: { ...first, url: 'https://db.example' },
          native: { host: 'fd00::2', port: 9440, secure: true },
        },
      ],
    },
    defaultWidth: 2,
    loader: ['eu_2'],
  })
})

test('projects have no width beside replicas', async () => {
  const file = path.join(folder, 'replicated.yaml')
  await writeFile(file, `${REPLICATED}  - { name: s2, url: 'http://c:8123', native: 'c:9000' }\n`)
  expect(() => readConfig({ CLUSTER: file, DEFAULT_WIDTH: '2' })).toThrow(
    new ConfigError('DEFAULT_WIDTH must be 1: no project lives across shards that have replicas'),
  )
  const { clickhouse } = readConfig({ CLUSTER: file })
  expect(clickhouse?.replicas?.members.map(({ url, replica }) => [url, replica.name])).toEqual([
    ['http://10.0.0.1:8123', 'a'],
    ['http://10.0.0.2:8123', 'b'],
  ])
})
