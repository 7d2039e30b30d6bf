/** Merges of the inbox while its loaded parts are dropped. */
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, statement, string } from '../../../../src/clickhouse/sql.js'
import type { Store } from '../../../../src/clickhouse/store.js'
import { hasLoadedRows } from '../../../../src/ingest/loader/stream.js'
import { withDatabase } from '../../../support/store/database.js'
import { listLeftovers, select } from '../../../support/store/facts.js'
import { loadStream } from '../../../support/store/loading.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

/** Wraps a store: the parts of the inbox are merged right before the first statement that contains `before`. */
function mergeBefore(store: Store, before: string): Store {
  let merges = 0
  const { writer } = store
  const execute: typeof writer.execute = async (given, settings) => {
    if (given.query.includes(before) && merges++ === 0) {
      await writer.execute(statement(sql`OPTIMIZE TABLE inbox PARTITION '' FINAL`))
    }
    return writer.execute(given, settings)
  }
  return { ...store, writer: { ...writer, execute } }
}

test.each(['INSERT INTO inbox (', 'ALTER TABLE inbox DROP PART '])(
  'parts that are merged before %s… are dropped, too',
  async (before) => {
    const { store } = database
    const { id } = await newProject(store)
    const visit = (n: number) =>
      feed(store, id, [{ timestamp: `2026-01-31T10:0${n}:00Z`, user_id: 'u' }])
    const events = () =>
      select(store, sql`SELECT count() AS n FROM events WHERE project_id = ${string(id)}`)
    for (let n = 0; n < 3; n += 1) await visit(n)
    await loadInbox(mergeBefore(store, before))
    expect(await listLeftovers(store)).toEqual([])
    expect(await events()).toEqual([{ n: 3 }])
    await visit(3)
    await loadInbox(store)
    expect(await listLeftovers(store)).toEqual([])
    expect(await events()).toEqual([{ n: 4 }])
  },
)

test('while rows wait, a load drops only some of the loaded parts', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const visit = (path: string) =>
    feed(store, id, [{ timestamp: '2026-01-31T10:00:00Z', user_id: 'u', path }])
  await store.admin.execute(statement(sql`SYSTEM STOP MERGES inbox`))
  try {
    await store.writer.execute(
      statement(
        sql`INSERT INTO inbox (project, line) SELECT ${string(id)}, '{"timestamp":"2026-01-31T10:00:00Z"}' FROM numbers(150)`,
      ),
      { max_block_size: '1', min_insert_block_size_rows: '1', max_insert_threads: '1' },
    )
    const execute: typeof store.writer.execute = async (given, settings) => {
      await store.writer.execute(given, settings)
      if (given.query.includes('DROP PART')) await visit('/meanwhile')
    }
    expect(await loadStream({ ...store.writer, execute })).toMatchObject({
      report: { events: 150 },
    })
    // 50 that are loaded, or 51 beside the blank line of a former load, and the one that arrived meanwhile.
    expect([51, 52]).toContain((await listLeftovers(store)).length)
    expect(await loadStream(store.writer)).toMatchObject({ report: { events: 1 } })
    expect(await listLeftovers(store)).toEqual([])
    expect(await hasLoadedRows(store.writer)).toBe(false)
  } finally {
    await store.admin.execute(statement(sql`SYSTEM START MERGES inbox`))
  }
})

test('many parts that cannot be loaded yet are merged', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const countParts = async (): Promise<number> => {
    const { rows } = await store.admin.query<{ parts: number }>(
      statement(sql`SELECT uniqExact(_part) AS parts FROM inbox WHERE project = ${string(id)}`),
    )
    return rows[0]!.parts
  }
  await store.writer.execute(
    statement(
      sql`INSERT INTO inbox (project, line) SELECT ${string(id)}, '{"timestamp":"2026-01-31T10:00:00Z"}' FROM numbers(250)`,
    ),
    { max_block_size: '1', min_insert_block_size_rows: '1', max_insert_threads: '1' },
  )
  for (let n = 0; n < 400 && (await countParts()) > 150; n += 1) await sleep(50)
  expect(await countParts()).toBeLessThanOrEqual(150)
  await loadInbox(store)
  expect(await listLeftovers(store)).toEqual([])
  expect(
    await select(store, sql`SELECT count() AS n FROM events WHERE project_id = ${string(id)}`),
  ).toEqual([{ n: 250 }])
})
