/** Which tables are dropped as temporary: those of killed processes, never those of other applications or of live ones. */
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { utimes } from 'node:fs/promises'
import path from 'node:path'
import { identifier, sql, statement, string, strings } from '../../../src/clickhouse/sql.js'
import { openRows } from '../../../src/ingest/import/open-rows.js'
import { MINUTE_MS } from '../../../src/lib/time.js'
import { writeFile, type FileFormat } from '../../support/sources/columnar.js'
import { importLines, splitIntoChunks, toLines } from '../../support/sources/sources.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import {
  checkRollups,
  ensureRollups,
  rebuildRollups,
  resumeLoads,
} from '../../support/store/loading.js'
import { createWorld } from '../../support/world/world.js'
import { until } from '../../support/until.js'

const database = withDatabase()
beforeAll(async () => {
  await createWorld(database.store, [{ timestamp: '2026-01-15T10:00:00Z', user_id: 'u' }])
})

const ID = '0123456789abcdef0123456789abcdef'

/** All but setInterval, by which tables are renewed. */
const REAL_TIMERS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setTimeout',
  'clearTimeout',
] as const

const createTable = (name: string): Promise<void> =>
  database.store.writer.execute(
    statement(sql`CREATE TABLE ${identifier(name)} (ip String) ENGINE = MergeTree ORDER BY ip`),
  )

/** Lists the tables of these names that still exist, in order. */
async function findTables(names: readonly string[]): Promise<readonly string[]> {
  const rows = await select<{ name: string }>(
    database.store,
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
  )
  return rows.map(({ name }) => name).filter((name) => names.includes(name))
}

/** Makes tables as old as if nothing had touched them for some hours: ClickHouse takes their age from a file. */
async function age(names: readonly string[], hours: number): Promise<void> {
  const files = await select<{ name: string; file: string }>(
    database.store,
    sql`SELECT name, metadata_path AS file FROM system.tables WHERE database = currentDatabase()`,
  )
  const [disk] = await select<{ path: string }>(
    database.store,
    sql`SELECT path FROM system.disks WHERE name = 'default'`,
  )
  const then = Date.now() / 1_000 - hours * 3_600
  for (const { file } of files.filter(({ name }) => names.includes(name))) {
    await utimes(path.resolve(disk!.path, file), then, then)
  }
}

const FOREIGN = [
  ...['load_balancer_log', 'load_1_balancer', 'load_1', 'load_x_rows', 'my_load_1_rows'],
  ...['draft_x', 'draft_7_x', 'draft_events', 'draft_feed_x', 'drafts_sessions_daily'],
  ...['removal_1_x', 'removal_of_snow', 'feed_x', 'feed_sessions_daily_copy'],
  ...['trial_subscriptions', 'trial_inbox', `trial_${ID}`, `trial_${ID}_x`, 'trial_a_inbox'],
  ...['staged_rollout', `staged_${ID}_x`, 'lease_contracts', 'lease_loader_x'],
]

test('tables and views of other applications survive all that drops tables', async () => {
  const { store } = database
  for (const name of FOREIGN) await createTable(name)
  await createTable('feed_target')
  await store.writer.execute(
    statement(sql`CREATE MATERIALIZED VIEW feed_view TO feed_target AS SELECT ip FROM feed_x`),
  )
  const all = [...FOREIGN, 'feed_target', 'feed_view'].sort()
  await age(all, 48)

  await store.writer.execute(statement(sql`INSERT INTO rollup_builds (definition) SELECT 'other'`))
  await ensureRollups(store)
  await rebuildRollups(store.writer, {})
  await checkRollups(store.writer, {})
  await resumeLoads(store.writer)
  await importLines(store, '', { dryRun: true })
  await read('Parquet', 1)
  expect(await findTables(all)).toEqual(all)
})

/** Reads a file of `rows` rows, as an import does; calls `onChunk` after its first chunk. Returns the number of chunks. */
async function read(
  format: FileFormat,
  count: number,
  onChunk?: () => Promise<void>,
): Promise<number> {
  const file = await writeFile(format, `SELECT 'x' AS name FROM numbers(${count})`)
  const { rows } = await openRows(splitIntoChunks(file), { writer: database.store.writer })
  let chunks = 0
  for await (const chunk of rows) {
    chunks += Math.min(chunk.length, 1)
    if (chunks === 1) await onChunk?.()
  }
  return chunks
}

test('tables of a killed dry run and of a killed import of Parquet are dropped after a day', async () => {
  const OTHER = ID.replaceAll('0', 'f')
  const young = [`staged_${ID}`, `trial_${ID}_inbox`, `trial_${ID}_rows`]
  const old = [`staged_${OTHER}`, `trial_${OTHER}_inbox`, `trial_${OTHER}_rows`]
  for (const name of [...young, ...old]) await createTable(name)
  await age(young, 23.5)
  await age(old, 24.1)
  await importLines(database.store, '', { dryRun: true })
  await read('Parquet', 1)
  expect(await findTables([...young, ...old])).toEqual(young)
})

/**
 * Lets two days pass for the tables with this prefix: they get old, their process renews them, and another process drops
 * what is abandoned.
 */
async function letDaysPass(prefix: string): Promise<void> {
  const listOwn = () =>
    select<{ name: string; seconds: number }>(
      database.store,
      sql`
SELECT name, toUnixTimestamp(now()) - toUnixTimestamp(metadata_modification_time) AS seconds FROM system.tables
WHERE database = currentDatabase() AND startsWith(name, ${string(prefix)}) AND NOT has(${strings(FOREIGN)}, name)`,
    )
  const names = (await listOwn()).map(({ name }) => name)
  expect(names).toHaveLength(1)
  await age(names, 48)
  jest.advanceTimersByTime(10 * MINUTE_MS)
  await until(async () => (await listOwn()).every(({ seconds }) => seconds < 3_600))
  await importLines(database.store, '', { dryRun: true })
  await read('Parquet', 1)
  expect((await listOwn()).map(({ name }) => name)).toEqual(names)
}

describe('a process that works for days keeps its tables', () => {
  beforeEach(async () => {
    for (const { name } of await select<{ name: string }>(
      database.store,
      sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND match(name, '^(trial|staged)_[0-9a-f]{32}')`,
    )) {
      if (!FOREIGN.includes(name))
        await database.store.writer.execute(statement(sql`DROP TABLE ${identifier(name)} SYNC`))
    }
    jest.useFakeTimers({ doNotFake: [...REAL_TIMERS] })
  })
  afterEach(() => void jest.useRealTimers())

  test('a dry run', async () => {
    const source = async function* (): AsyncGenerator<Buffer> {
      await letDaysPass('trial_')
      yield Buffer.from(
        toLines([{ timestamp: '2026-01-15T10:00:00Z', name: 'x', project: 'none' }]),
      )
    }
    const { report } = await importLines(database.store, source(), { dryRun: true })
    expect(report).toMatchObject({ received: 1, rejected: 1 })
  })

  test('an import of Parquet', async () => {
    expect(await read('Parquet', 20_001, () => letDaysPass('staged_'))).toBe(2)
  })
})
