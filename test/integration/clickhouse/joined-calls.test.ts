/** Calls that share statements: each row is stored once, each caller gets its own result, and an error is that of one statement alone. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { joinCalls, joinInserts } from '../../../src/clickhouse/joined-calls.js'
import { sql, statement, string, strings, uint32 } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { getTestEndpoint } from '../../support/engine/engine.js'

const insert = joinInserts(sql`joined_rows (number, text)`)
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
  insert(store.admin, sql`${uint32(number)}, ${string(`row ${number}`)}`)

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
  // A hundred at a time.
  expect(rows[0]).toEqual({ parts: 5 })
})

test('rejects what the statement rejects with, and goes on', async () => {
  const bad = insert(store.admin, sql`throwIf(true, 'refused'), ''`)
  await expect(bad).rejects.toThrow('refused')
  await insertRow(1_000)
  expect(await readParts()).toEqual([{ rows: ROWS.length + 1, numbers: ROWS.length + 1, wrong: 0 }])
})

test('answers each call with its own result, of a statement that begins after the call', async () => {
  const statements: (readonly number[])[] = []
  const readNumber = joinCalls<number, number | undefined>(async (connection, numbers) => {
    statements.push(numbers)
    const { rows } = await connection.query<{ number: number }>(
      statement(
        sql`SELECT number FROM joined_rows WHERE text IN ${strings(numbers.map((number) => `row ${number}`))}`,
      ),
    )
    return numbers.map((number) => rows.find((row) => row.number === number)?.number)
  })
  const results = [7, 8, 9_999, 7].map((number) => readNumber(store.admin, number))
  expect(await Promise.all(results)).toEqual([7, 8, undefined, 7])
  expect(statements).toEqual([[7, 8, 9_999, 7]])
  await insertRow(9_999)
  expect(await readNumber(store.admin, 9_999)).toBe(9_999)
})
