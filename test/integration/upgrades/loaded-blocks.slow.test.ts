/** A store in which an earlier build has loaded the stream up to a row of a block goes on with the next row. */
import { expect, test } from '@jest/globals'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { PACKAGE_MIGRATIONS } from '../../../src/clickhouse/migrations/migration-files.js'
import { sql, statement, string, uint64, type Sql } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { findUnfinishedLoads } from '../../../src/ingest/loader/load-log.js'
import { buildFromClause, type LoadSource } from '../../../src/ingest/loader/load-source.js'
import { findNextRows } from '../../../src/ingest/loader/next-rows.js'
import { countWaitingRows } from '../../../src/ingest/loader/stream.js'
import { dropDatabase, newDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { resumeLoads } from '../../support/store/loading.js'
import { feed } from '../../support/store/stream.js'

/** The first migration after which the stream is a set of blocks. */
const FIRST = '0039'

/** Copies the migrations of the earlier build. */
async function copyEarlier(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-migrations-'))
  for (const name of await readdir(PACKAGE_MIGRATIONS)) {
    if (name < FIRST) await cp(path.join(PACKAGE_MIGRATIONS, name), path.join(folder, name))
  }
  return folder
}

const readLines = async (store: Store, source: LoadSource): Promise<readonly string[]> =>
  (
    await select<{ line: string }>(store, sql`SELECT line ${buildFromClause(source)} ORDER BY line`)
  ).map(({ line }) => line)

test.each([
  { cursor: [0, 0], waiting: ['1a', '1b', '2a', '2b', '3a', '3b', '4a'] },
  { cursor: [0, 1], waiting: ['1b', '2a', '2b', '3a', '3b', '4a'] },
  { cursor: [2, 0], waiting: ['3a', '3b', '4a'] },
  { cursor: [2, 1], waiting: ['3b', '4a'] },
  { cursor: [4, 0], waiting: [] },
])('after the place $cursor', async ({ cursor: [block = 0, row = 0], waiting }) => {
  const endpoint = newDatabase()
  const folder = await copyEarlier()
  const store = connectStore(endpoint)
  const execute = (text: Sql): Promise<void> => store.writer.execute(statement(text))
  try {
    await migrate(endpoint, { folder })
    for (const lines of [['1a', '1b'], ['2a', '2b'], ['3a', '3b'], ['4a']]) {
      await feed(store, 'none', lines)
    }
    const [from, to] = [`${block}${row === 0 ? '' : `.${row}`}`, '4']
    const values = sql`toUInt64(${uint64(block)}), toUInt64(${uint64(row)})`
    await execute(sql`
INSERT INTO inbox_cursor (stream, block, rows, load) SELECT 'inbox', 1, 0, 1`)
    await execute(sql`
INSERT INTO inbox_cursor (stream, block, rows, load) SELECT 'inbox', ${values}, 2`)
    await execute(sql`
INSERT INTO loads (load, batch, step) SELECT 1, 'any', 3 UNION ALL SELECT 3, ${string(`stream-${from}-${to}`)}, 1`)
    expect(await migrate(endpoint)).toContain('0039_blocks_of_loads.sql')

    const [load] = await findUnfinishedLoads(store.writer)
    expect(load).toMatchObject({ number: 3, batch: `stream-${from}-${to}` })
    expect(await readLines(store, load!)).toEqual(waiting)
    expect((await countWaitingRows(store.lookups)).rows).toBe(
      // A block counts as a whole.
      waiting.length + row,
    )
    const next = await findNextRows(store.writer)
    expect(next === undefined ? [] : await readLines(store, next)).toEqual(waiting)
    // It had not staged its load, whose rows are loaded by another.
    expect(await resumeLoads(store.writer)).toMatchObject({ received: 0 })
    // Parts that are loaded as a whole are dropped.
    const left = await select<{ line: string }>(
      store,
      sql`SELECT line FROM inbox WHERE line != '' ORDER BY line`,
    )
    expect(left.map(({ line }) => line)).toEqual(
      ['1a', '1b', '2a', '2b', '3a', '3b', '4a'].filter((line) => Number(line[0]) > block),
    )
  } finally {
    await store.close()
    await dropDatabase(endpoint)
    await rm(folder, { recursive: true })
  }
})
