/** The table of the guide to pipelines sends each event to the shard of its sender, on real engines. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { startEngine, type Engine } from '../../../src/clickhouse/embedded/engine.js'
import { createAddresses, type EngineAddress } from '../../../src/clickhouse/embedded/member.js'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { sql, statement, string, type Sql } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { chooseShard, type SenderFields } from '../../../src/cluster/choose-shard.js'
import { placeOn, SENDERS, WIDENED_CASES } from '../../support/cluster/senders.js'
import { createEngineFolder } from '../../support/engine/shared-engine.js'
import { select } from '../../support/store/facts.js'

const SHARDS = 3

let dataDir: string
let engines: readonly Engine[]
let stores: readonly Store[]

/** Lets the engines reach each other with the account that writes, instead of that of the pipeline. */
const asWriter = ({ endpoint, nativePort }: EngineAddress): EngineAddress => ({
  endpoint: { ...endpoint, accounts: { ...endpoint.accounts, reader: endpoint.accounts.writer } },
  nativePort,
})

beforeAll(async () => {
  dataDir = await createEngineFolder()
  const addresses = await createAddresses(SHARDS)
  const members = addresses.map(asWriter)
  const groups = [
    { name: 'tallyhouse_shop', engines: members },
    { name: 'tallyhouse_pair', engines: members.slice(0, 2) },
  ]
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
})
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await Promise.all(engines.map((engine) => engine.stop()))
  await rm(dataDir, { recursive: true, force: true })
})

/** Creates the table of a guide. @param name of the table's project, and of its group of shards */
async function createTable(file: string, name: string): Promise<void> {
  const [{ admin }] = stores as [Store]
  const table = await readFile(packagePath(`clickhouse/pipelines/${file}`), 'utf8')
  await admin.execute({
    query: table
      .replaceAll(/^ *--.*$/gm, '')
      .replace(';', '')
      .replaceAll('shop', name),
    query_params: {},
  })
}

/** Inserts rows of a project into its table. */
async function insert(into: Sql, rows: readonly (readonly string[])[]): Promise<void> {
  const [{ admin }] = stores as [Store]
  await admin.upload(
    statement(sql`INSERT INTO ${into} FORMAT JSONCompactEachRow`),
    Readable.from([Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'))]),
    { distributed_foreground_insert: '1' },
  )
}

/** Reads the numbers of the events in the inbox of each shard. */
const readInboxes = (project: string, condition: Sql) =>
  Promise.all(
    stores.map((store) =>
      select<{ n: number }>(
        store,
        sql`SELECT toUInt32(JSONExtractString(line, 'event_id')) AS n FROM inbox WHERE project = ${string(project)} AND ${condition} ORDER BY n`,
      ),
    ),
  )

const toLine = ({ event }: { readonly event: SenderFields }, n: number): string =>
  JSON.stringify({ ...event, event_id: String(n) })

test('each event is in the inbox of the shard of its sender', async () => {
  await createTable('cluster.sql', 'shop')
  const rows = SENDERS.map((one, n) => ['shop', toLine(one, n)])
  await insert(sql`shop_inbox (project, line)`, rows)
  const found = await readInboxes('shop', sql`received_at > now64(3) - 60`)
  const want = engines.map((_, shard) =>
    SENDERS.flatMap(({ hash }, n) => (hash % SHARDS === shard ? [{ n }] : [])),
  )
  expect(found).toEqual(want)
})

test('each event of a project that was widened is where its user is', async () => {
  const placement = {
    ...placeOn(2),
    formerWidths: [{ width: 1, until: new Date('2026-03-02T00:00:00Z') }],
  }
  await createTable('widened.sql', 'pair')
  const cases = [...SENDERS, ...WIDENED_CASES]
  const lists = [
    { arrival: undefined, at: sql`received_at > now64(3) - 60`, receivedAt: new Date() },
    ...['2026-03-01 23:59:59.999', '2026-03-02 00:00:00.000'].map((arrival) => ({
      arrival,
      at: sql`received_at = ${string(arrival)}`,
      receivedAt: new Date(`${arrival}Z`),
    })),
  ]
  for (const { arrival, at, receivedAt } of lists) {
    const rows = cases.map((one, n) => ['pair', toLine(one, n)])
    if (arrival === undefined) await insert(sql`pair_inbox (project, line)`, rows)
    else {
      const timed = rows.map((row) => [...row, arrival])
      await insert(sql`pair_inbox (project, line, received_at)`, timed)
    }
    const want = [0, 1].map((shard) =>
      cases.flatMap(({ event }, n) =>
        chooseShard(event, placement, receivedAt) === shard ? [{ n }] : [],
      ),
    )
    expect(await readInboxes('pair', at)).toEqual([...want, []])
  }
})
