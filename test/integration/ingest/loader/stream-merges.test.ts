/** Merges of the inbox while its loaded parts are dropped. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql, statement, string } from '../../../../src/clickhouse/sql.js'
import type { Store } from '../../../../src/clickhouse/store.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { listLeftovers, select } from '../../../support/store/facts.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

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

test.each([
  { before: 'INSERT INTO inbox (', left: 0 },
  // The blank line is in the same part then: the rows are dropped by the next load.
  { before: 'ALTER TABLE inbox DROP PART ', left: 3 },
])('parts that are merged before $before… are dropped, too', async ({ before, left }) => {
  const { store } = database
  const { id } = await newProject(store)
  const visit = (n: number) =>
    feed(store, id, [{ timestamp: `2026-01-31T10:0${n}:00Z`, user_id: 'u' }])
  const events = () =>
    select(store, sql`SELECT count() AS n FROM events WHERE project_id = ${string(id)}`)
  for (let n = 0; n < 3; n += 1) await visit(n)
  await loadInbox(mergeBefore(store, before))
  expect(await listLeftovers(store)).toHaveLength(left)
  expect(await events()).toEqual([{ n: 3 }])
  await visit(3)
  await loadInbox(store)
  expect(await listLeftovers(store)).toEqual([])
  expect(await events()).toEqual([{ n: 4 }])
})
