/** Rows of many callers that are inserted together: each is stored once, and a bad one fails with those of its statement alone. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { insertJoined } from '../../../src/clickhouse/joined-insert.js'
import { sql, statement, string, uint32 } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { getTestEndpoint } from '../../support/engine/engine.js'

const INTO = sql`joined_rows (number, text)`
const ROWS = Array.from({ length: 450 }, (_, number) => number)

let store: Store
beforeAll(async () => {
  store = connectStore(getTestEndpoint())
  await store.admin.execute(
    statement(
      sql`CREATE TABLE joined_rows (number UInt32, text String) ENGINE = MergeTree ORDER BY number`,
    ),
  )
})
afterAll(async () => {
  await store.admin.execute(statement(sql`DROP TABLE joined_rows SYNC`))
  await store.close()
})

const insertRow = (number: number): Promise<void> =>
  insertJoined(store.admin, INTO, sql`${uint32(number)}, ${string(`row ${number}`)}`)

const readParts = async (): Promise<unknown> => {
  const { rows } = await store.admin.query(
    statement(sql`
SELECT toUInt32(count()) AS rows, toUInt32(uniqExact(number)) AS numbers, toUInt32(countIf(text != concat('row ', toString(number)))) AS wrong
FROM joined_rows`),
  )
  return rows
}

test('stores each row once, in few statements', async () => {
  await Promise.all(ROWS.map(insertRow))
  expect(await readParts()).toEqual([{ rows: ROWS.length, numbers: ROWS.length, wrong: 0 }])
  const { rows } = await store.admin.query(
    statement(sql`
SELECT toUInt32(count()) AS parts FROM system.parts
WHERE database = currentDatabase() AND table = 'joined_rows' AND level = 0`),
  )
  // The first row alone, then a hundred at a time.
  expect(rows[0]).toEqual({ parts: 6 })
})

test('rejects what the statement rejects with, and goes on', async () => {
  const bad = insertJoined(store.admin, INTO, sql`throwIf(true, 'refused'), ''`)
  await expect(bad).rejects.toThrow('refused')
  await insertRow(1_000)
  expect(await readParts()).toEqual([{ rows: ROWS.length + 1, numbers: ROWS.length + 1, wrong: 0 }])
})
