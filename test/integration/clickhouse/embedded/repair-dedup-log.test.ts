/** An engine that was killed during an insert accepts that insert when it is repeated, and no other one. */
import { expect, test } from '@jest/globals'
import type { ClickHouseClient } from '@clickhouse/client'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { getEngineDir } from '../../../../src/clickhouse/embedded/engine-dir.js'
import { aClient, aDataDir, anEngine } from './support.js'

async function insert(client: ClickHouseClient, n: number): Promise<void> {
  await client.command({
    query: `INSERT INTO numbered SELECT ${n}, number FROM numbers(2)`,
    clickhouse_settings: { insert_deduplication_token: `insert ${n}` },
  })
}

async function rows(client: ClickHouseClient): Promise<unknown> {
  const found = await client.query({
    query: 'SELECT n, part FROM numbered ORDER BY ALL',
    format: 'JSONCompactEachRow',
  })
  return found.json()
}

/** Returns the folder of the table in a data folder. */
async function findTableFolder(dataDir: string, client: ClickHouseClient): Promise<string> {
  const found = await client.query({
    query: `SELECT data_paths[1] AS folder FROM system.tables WHERE name = 'numbered'`,
    format: 'JSONEachRow',
  })
  const [row] = await found.json<{ folder: string }>()
  return path.resolve(getEngineDir(dataDir), row!.folder)
}

/** Runs `work` with an engine on the folder, then stops the engine. */
async function withEngine(
  dataDir: string,
  work: (client: ClickHouseClient) => Promise<void>,
): Promise<void> {
  const engine = await anEngine(dataDir)
  const client = aClient(engine.endpoint, 'admin')
  await work(client)
  await client.close()
  await engine.stop()
}

test('a token that was logged before its part was in place', async () => {
  const dataDir = await aDataDir()
  let folder = ''
  await withEngine(dataDir, async (client) => {
    await client.command({
      query: `
        CREATE TABLE numbered (n UInt32, part UInt32) ENGINE = MergeTree PARTITION BY part ORDER BY n
        SETTINGS non_replicated_deduplication_window = 100`,
    })
    folder = await findTableFolder(dataDir, client)
    for (const n of [1, 2]) await insert(client, n)
    await client.command({ query: 'OPTIMIZE TABLE numbered FINAL' })
    await insert(client, 3)
  })
  // A kill between the two leaves the same state: the token of the last part without the part.
  const parts = (await readdir(folder)).filter((name) => /^1_\d+_\d+_0$/.test(name))
  const last = parts.sort((a, b) => Number(a.split('_')[1]) - Number(b.split('_')[1])).at(-1)!
  await rm(path.join(folder, last), { recursive: true })

  await withEngine(dataDir, async (client) => {
    expect(await rows(client)).toEqual([
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
      [3, 0],
    ])
    for (const n of [1, 2, 3, 3]) await insert(client, n)
  })
  await withEngine(dataDir, async (client) => {
    for (const n of [1, 2, 3]) await insert(client, n)
    expect(await rows(client)).toEqual([
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
      [3, 0],
      [3, 1],
    ])
  })
})
