/** docker-compose.cluster.yml and docker-compose.ha.yml are docker-compose.yml with three servers, which know each other by their files. */
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { buildServerFiles } from '../../../src/cluster/server-files.js'
import { parseClusterFile } from '../../../src/config/cluster-file.js'
import { packagePath } from '../../../src/lib/package-path.js'

interface Service {
  readonly volumes?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly depends_on: Readonly<Record<string, unknown>>
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const read = (file: string): string => readFileSync(packagePath(file), 'utf8')
const single = parse(read('docker-compose.yml')) as Compose
const cluster = parse(read('docker-compose.cluster.yml'), { merge: true }) as Compose
const { shards } = parseClusterFile(read('clickhouse/config/cluster/cluster.yaml'))
const servers = shards.flatMap((shard) => (shard.replicas === undefined ? [shard] : []))
const files = buildServerFiles(
  servers.map(({ name, native }) => ({ name, ...native })),
  { username: 'reader', passwordVariable: 'CLICKHOUSE_READER_PASSWORD' },
)

test.each(files)('$path is what tallyhouse cluster config makes', ({ path, text }) => {
  expect(read(`clickhouse/config/cluster/${path}`)).toBe(text)
})

test('the servers of the file are those of the composition', () => {
  const names = Object.keys(cluster.services).filter((name) => name.startsWith('clickhouse'))
  expect(servers.map(({ url }) => url)).toEqual(names.map((name) => `http://${name}:8123`))
  expect(servers.map(({ native }) => native)).toEqual(
    names.map((host) => ({ host, port: 9000, secure: false })),
  )
  expect(Object.keys(cluster.volumes)).toEqual([...names, 'keys'])
})

test.each(servers.map(({ native }) => native.host))('%s is the single server', (name) => {
  const { clickhouse } = single.services
  const [data] = clickhouse!.volumes!.slice(-1)
  expect(cluster.services[name]).toEqual({
    ...clickhouse,
    volumes: [
      ...clickhouse!.volumes!.slice(0, -1),
      ...files.map(
        ({ path }) => `./clickhouse/config/cluster/${path}:/etc/clickhouse-server/${path}:ro`,
      ),
      data!.replace('clickhouse', name),
    ],
  })
})

const FILE = './clickhouse/config/cluster/cluster.yaml:/etc/tallyhouse/cluster.yaml:ro'

test.each(['migrate', 'service'])('%s differs in the servers alone', (name) => {
  const { CLICKHOUSE_URL: url = '', ...rest } = single.services[name]!.environment
  const [, user, password] = /^http:\/\/(\w+):(\$\{[^}]+\})@clickhouse:8123\/tallyhouse$/.exec(url)!
  const { clickhouse, ...others } = single.services[name]!.depends_on
  const { DEFAULT_WIDTH: width, ...environment } = cluster.services[name]!.environment
  expect(width).toBe(name === 'service' ? '${DEFAULT_WIDTH:-1}' : undefined)
  expect({ ...cluster.services[name], environment }).toEqual({
    ...single.services[name],
    environment: {
      CLUSTER: '/etc/tallyhouse/cluster.yaml',
      CLICKHOUSE_USER: user,
      CLICKHOUSE_PASSWORD: password,
      ...rest,
    },
    volumes: [FILE, ...(single.services[name]!.volumes ?? [])],
    depends_on: {
      ...Object.fromEntries(servers.map(({ native }) => [native.host, clickhouse])),
      ...others,
    },
  })
})

const replicated = parse(read('docker-compose.ha.yml'), { merge: true }) as Compose
const [shard] = parseClusterFile(read('clickhouse/config/ha/cluster.yaml')).shards
const replicas = shard.replicas ?? []
const KEEPERS = ['keeper1', 'keeper2', 'keeper3']

test('the replicas of the file are the servers of docker-compose.ha.yml', () => {
  const names = Object.keys(replicated.services).filter((name) => name.startsWith('clickhouse'))
  expect(replicas.map(({ url }) => url)).toEqual(names.map((name) => `http://${name}:8123`))
  expect(Object.keys(replicated.volumes)).toEqual([...names, ...KEEPERS, 'keys'])
})

test.each(replicas.map(({ url }) => new URL(url).hostname))('%s is the single server', (name) => {
  const { clickhouse } = single.services
  const [data] = clickhouse!.volumes!.slice(-1)
  expect(replicated.services[name]).toEqual({
    ...clickhouse,
    environment: { ...clickhouse!.environment, INTERSERVER_HOST: name },
    volumes: [
      ...clickhouse!.volumes!.slice(0, -1),
      './clickhouse/config/ha/replica.xml:/etc/clickhouse-server/config.d/tallyhouse-replica.xml:ro',
      data!.replace('clickhouse', name),
    ],
    depends_on: KEEPERS,
  })
})

test('servers and Keepers know all Keepers', () => {
  const list = (file: string, pattern: RegExp): readonly string[] =>
    [...read(`clickhouse/config/ha/${file}`).matchAll(pattern)].map(([, found = '']) => found)
  expect({
    servers: list('replica.xml', /<host>([^<]+)<\/host>/g),
    keepers: list('keeper.xml', /<hostname>([^<]+)<\/hostname>/g),
    ids: list('keeper.xml', /<id>([^<]+)<\/id>/g),
    started: KEEPERS.map((name) => replicated.services[name]!.environment['KEEPER_ID']),
  }).toEqual({
    servers: KEEPERS,
    keepers: KEEPERS,
    ids: ['1', '2', '3'],
    started: ['1', '2', '3'],
  })
})
