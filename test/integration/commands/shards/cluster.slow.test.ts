/** `tallyhouse cluster status` and `add`, on servers with the accounts of users.xml. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { ClusterStatus } from '../../../../src/commands/cluster/examine-cluster.js'
import { addCluster } from '../../../../src/commands/cluster/cluster.js'
import { createProject } from '../../../../src/projects/store.js'
import { runCommand, type CommandResult } from '../../../support/cli/commands.js'
import {
  formatClusterFile,
  startServers,
  type ServerOfCluster,
} from '../../../support/engine/servers.js'

const NOW = new Date()
let servers: readonly ServerOfCluster[]
let folder: string
let file: string

beforeAll(async () => {
  servers = await startServers(3, 2)
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-cluster-'))
  file = path.join(folder, 'cluster.yaml')
  await writeFile(file, formatClusterFile(servers.slice(0, 2)))
  const [first, second] = servers
  await createProject(first!.store, { id: 'a', name: 'A', domain: 'a.example' }, NOW)
  await createProject(first!.store, { id: 'b', name: 'B', domain: 'b.example' }, NOW, [
    first!.name,
    second!.name,
  ])
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop().catch(() => undefined)))
  await rm(folder, { recursive: true })
})

const runCluster = (...args: readonly string[]): Promise<CommandResult> => {
  const { endpoint } = servers[0]!
  const { admin, reader, writer } = endpoint.accounts
  return runCommand(addCluster, ['cluster', ...args], {
    endpoint,
    now: NOW,
    env: {
      CLICKHOUSE_URL: '',
      CLUSTER: file,
      CLICKHOUSE_USER: admin.username,
      CLICKHOUSE_PASSWORD: admin.password,
      CLICKHOUSE_READER_USER: reader.username,
      CLICKHOUSE_READER_PASSWORD: reader.password,
      CLICKHOUSE_WRITER_USER: writer.username,
      CLICKHOUSE_WRITER_PASSWORD: writer.password,
    },
  })
}

const facts = {
  version: expect.stringMatching(/^26\./),
  missing: [],
  waiting: { rows: 0, oldestMs: 0 },
  loader: null,
  bytes: expect.any(Number),
  aheadMs: expect.any(Number),
}
const both = { group: 'tallyhouse_1_2', shards: 2, ms: expect.any(Number), reason: null }

test('status of shards that know each other', async () => {
  const { stdout, error } = await runCluster('status', '--json')
  expect(error).toBeUndefined()
  expect(JSON.parse(stdout)).toEqual({
    shards: servers.slice(0, 2).map(({ name, endpoint }, i) => ({
      name,
      url: endpoint.url,
      reason: null,
      facts,
      neighbours: both,
      projects: 2 - i,
    })),
    whole: both,
    relocations: [],
  })
})

test('status for people', async () => {
  const { stdout } = await runCluster('status')
  expect(stdout.replaceAll(/ {2,}/g, ' | ').replaceAll(/\d[\d,.]* ms/g, 'N ms')).toMatch(
    /^SHARD \| STATE .* ASKS\nshard1 \| ok \| 26\..* \| 0 \| nobody \| 2 \| \d+ \| -?N ms \| 2 in N ms\nshard2 .*\nA query over all 2 shards takes N ms beside its work on each\.\n$/,
  )
})

test('a server is added, and the file keeps its comment', async () => {
  const { name, endpoint, nativePort } = servers[2]!
  const address = `127.0.0.1:${nativePort}`
  const { stdout, error } = await runCluster(
    ...['add', name, '--url', endpoint.url, '--native', address],
  )
  expect({ error, told: stdout.split('\n')[0] }).toEqual({
    error: undefined,
    told: `shard3 is in ${file}. Nothing is stored there yet. What to do next:`,
  })
  expect(await readFile(file, 'utf8')).toBe(formatClusterFile(servers))
})

test('status names what the servers do not know yet', async () => {
  const { stdout, error } = await runCluster('status', '--json')
  const { shards, whole } = JSON.parse(stdout) as ClusterStatus
  const reason =
    'it does not know the group: run "tallyhouse cluster config" and put its files on every server'
  expect(shards.map(({ neighbours }) => neighbours?.reason)).toEqual([null, null, reason])
  expect(whole).toEqual({ group: 'tallyhouse_1_3', shards: 3, ms: null, reason })
  expect(error).toBe('1 shard of 3 need attention')
})

test.each([
  {
    why: 'a name that is taken',
    args: ['shard1', '--url', 'http://h', '--native', 'h:9000'],
    want: () => 'CLUSTER: shards.3.name is the same as shards.0.name',
  },
  {
    why: 'an address that is none',
    args: ['new', '--url', 'h', '--native', 'h:9000'],
    want: () => 'CLUSTER: shards.3.url must be http(s)://host:port, without an account and a path',
  },
  {
    why: 'a server that does not answer',
    args: ['new', '--url', 'http://127.0.0.1:1', '--native', '127.0.0.1:2'],
    want: () => 'http://127.0.0.1:1 does not answer: connect ECONNREFUSED 127.0.0.1:1',
  },
])('add refuses $why', async ({ args, want }) => {
  const before = await readFile(file, 'utf8')
  expect((await runCluster('add', ...args)).error).toBe(want())
  expect(await readFile(file, 'utf8')).toBe(before)
})

test('add refuses a server of the cluster, by another name of its host', async () => {
  const url = servers[1]!.endpoint.url.replace('127.0.0.1', 'localhost')
  expect((await runCluster('add', 'new', '--url', url, '--native', 'localhost:1')).error).toBe(
    `${url} is a server that is in the cluster already`,
  )
})

test('add refuses a server with projects', async () => {
  const { store, endpoint, nativePort } = servers[2]!
  await writeFile(file, formatClusterFile(servers.slice(0, 2)))
  await createProject(store, { id: 'c', name: 'C', domain: 'c.example' }, NOW)
  const { error } = await runCluster(
    ...['add', 'shard3', '--url', endpoint.url, '--native', `127.0.0.1:${nativePort}`],
  )
  expect(error).toBe(
    `the database tallyhouse at ${endpoint.url} has projects or events: add a server without any`,
  )
})

test('status while a server is away', async () => {
  await servers[1]!.stop()
  const { stdout, error } = await runCluster('status', '--json')
  const { shards, whole } = JSON.parse(stdout) as ClusterStatus
  expect(error).toBe('2 shards of 2 need attention')
  expect(shards[1]).toEqual({
    name: 'shard2',
    url: servers[1]!.endpoint.url,
    reason: expect.stringMatching(/ECONNREFUSED/),
    facts: null,
    neighbours: null,
    projects: 1,
  })
  expect(shards[0]).toMatchObject({ reason: null, facts, projects: 2 })
  expect([whole?.ms, whole?.reason]).toEqual([null, expect.stringMatching(/127\.0\.0\.1/)])
})
