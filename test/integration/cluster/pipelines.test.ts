/** The table of the guide to pipelines sends each event to the shard of its sender, on real engines. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { startEngine, type Engine } from '../../../src/clickhouse/embedded/engine.js'
import { createAddresses, type EngineAddress } from '../../../src/clickhouse/embedded/member.js'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { SENDERS } from '../../support/cluster/senders.js'
import { createEngineFolder } from '../../support/engine/shared-engine.js'
import { select } from '../../support/store/facts.js'

const SHARDS = 3

let dataDir: string
let engines: readonly Engine[]
let stores: readonly Store[]

/** Lets the engines reach each other as the account that writes, in place of the pipeline's. */
const asWriter = ({ endpoint, nativePort }: EngineAddress): EngineAddress => ({
  endpoint: { ...endpoint, accounts: { ...endpoint.accounts, reader: endpoint.accounts.writer } },
  nativePort,
})

beforeAll(async () => {
  dataDir = await createEngineFolder()
  const addresses = await createAddresses(SHARDS)
  const groups = [{ name: 'tallyhouse_shop', engines: addresses.map(asWriter) }]
  engines = await Promise.all(
    addresses.map((address, i) =>
      startEngine({
        dataDir: path.join(dataDir, `${i + 1}`),
        purpose: 'jest',
        member: { ...address, groups },
      }),
    ),
  )
  await Promise.all(engines.map(({ endpoint }) => migrate(endpoint)))
  stores = engines.map(({ endpoint }) => connectStore(endpoint))
}, 120_000)
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await Promise.all(engines.map((engine) => engine.stop()))
  await rm(dataDir, { recursive: true, force: true })
})

test('each event is in the inbox of the shard of its sender', async () => {
  const [{ admin }] = stores as [Store]
  const table = await readFile(packagePath('clickhouse/pipelines/cluster.sql'), 'utf8')
  await admin.execute({
    query: table.replaceAll(/^ *--.*$/gm, '').replace(';', ''),
    query_params: {},
  })
  const lines = SENDERS.map(({ event }, n) => JSON.stringify({ ...event, event_id: String(n) }))
  await admin.upload(
    statement(sql`INSERT INTO shop_inbox (project, line) FORMAT JSONCompactEachRow`),
    Readable.from([Buffer.from(lines.map((line) => JSON.stringify(['shop', line])).join('\n'))]),
    { distributed_foreground_insert: '1' },
  )
  const found = await Promise.all(
    stores.map((store) =>
      select<{ n: number }>(
        store,
        sql`SELECT toUInt32(JSONExtractString(line, 'event_id')) AS n FROM inbox WHERE project = 'shop' AND received_at > now64(3) - 60 ORDER BY n`,
      ),
    ),
  )
  const want = engines.map((_, shard) =>
    SENDERS.flatMap(({ hash }, n) => (hash % SHARDS === shard ? [{ n }] : [])),
  )
  expect(found).toEqual(want)
})
