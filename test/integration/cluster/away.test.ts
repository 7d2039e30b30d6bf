/** A service starts while a shard is away, and uses it once it is back. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { openCluster } from '../../../src/bootstrap/open-cluster.js'
import { locate } from '../../../src/cluster/cluster.js'
import { readConfig } from '../../../src/config/config.js'
import { ApiError } from '../../../src/contract/errors.js'
import { startChaosProxy, type ChaosProxy } from '../../support/faults/chaos-proxy.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'

let database: TestDatabase
let proxy: ChaosProxy
let folder: string

beforeAll(async () => {
  database = await createDatabase()
  proxy = await startChaosProxy(database.endpoint.url)
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-cluster-'))
})

afterAll(async () => {
  await proxy.stop()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** Opens a cluster of the home and a shard behind the proxy, which both use one database. */
async function open(mayBeAway: (shard: string) => boolean) {
  const { endpoint } = database
  const { username, password } = endpoint.accounts.admin
  const shards = [
    { name: 'north', url: endpoint.url, native: '127.0.0.1:9001' },
    { name: 'south', url: proxy.url, native: '127.0.0.1:9002' },
  ]
  const file = path.join(folder, 'cluster.yaml')
  await writeFile(file, JSON.stringify({ database: endpoint.database, shards }))
  const config = readConfig({
    CLUSTER: file,
    CLICKHOUSE_USER: username,
    CLICKHOUSE_PASSWORD: password,
    NODE_ENV: 'test',
  })
  return openCluster(config, (shard) => ({
    purpose: 'jest',
    access: 'write',
    mayBeAway: mayBeAway(shard),
  }))
}

const find = (opened: Awaited<ReturnType<typeof open>>, shards: readonly string[]): string => {
  try {
    return locate(opened.cluster, { id: 'p', shards })
      .map(({ name }) => name)
      .join(' ')
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error)
  }
}

test('projects of a shard that is away are refused until it is prepared', async () => {
  proxy.fail({ kind: 'reject' })
  const opened = await open((shard) => shard === 'south')
  const ask = (): readonly string[] =>
    [[], ['north'], ['south'], ['north', 'south'], ['west']].map((shards) => find(opened, shards))
  const away = ask()
  proxy.fail({ kind: 'none' })
  await opened.stores[1]?.prepared
  const back = ask()
  await opened.close()
  const none = 'SERVICE_UNAVAILABLE'
  expect([away, back]).toEqual([
    ['north', 'north', none, none, none],
    ['north', 'north', 'south', 'north south', none],
  ])
})

test('a start that needs all shards fails', async () => {
  proxy.fail({ kind: 'reject' })
  await expect(open(() => false)).rejects.toThrow(/hang up|ECONNRESET|not answer/)
  proxy.fail({ kind: 'none' })
})
