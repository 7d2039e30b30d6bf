/** Queries that fail: the error that the caller gets, and that the engine stops them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createQueryRunner } from '../../../src/clickhouse/run.js'
import { join, sql, statement, string, uint64, type Sql } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { ApiError } from '../../../src/contract/errors.js'
import { getTestEndpoint } from '../../support/engine/engine.js'
import { until } from '../../support/until.js'

let store: Store
beforeAll(() => {
  store = connectStore(getTestEndpoint())
})
afterAll(() => store.close())

const MARK = 'a question of run.test'
const marked = (work: Sql) => statement(sql`SELECT ${string(MARK)}, ${work}`)
const ENDLESS = marked(sql`(SELECT sum(sipHash64(number)) FROM numbers(1000000000000))`)
const HUGE = marked(
  sql`(SELECT length(groupArray(concat(repeat('x', 1000000), toString(number)))) FROM numbers(100000))`,
)

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  return error instanceof ApiError ? error.code : 'none'
}

async function running(): Promise<number> {
  const { rows } = await store.admin.query<{ n: number }>(
    statement(sql`
SELECT toUInt32(count()) AS n FROM system.processes
WHERE position(query, ${string(MARK.slice(2))}) > 0 AND query_id != queryID()`),
  )
  return rows[0]!.n
}

async function runningIds(prefix: string): Promise<readonly string[]> {
  const { rows } = await store.admin.query<{ query_id: string }>(
    statement(
      sql`SELECT query_id FROM system.processes WHERE startsWith(query_id, ${string(prefix)})`,
    ),
  )
  return rows.map(({ query_id }) => query_id)
}

const untilIdle = () => until(async () => (await running()) === 0)

describe('run', () => {
  test('returns the rows, and their number before LIMIT', async () => {
    const answer = await createQueryRunner(
      store,
      60_000,
    )<{ n: number }>(
      statement(sql`SELECT arrayJoin(range(${uint64(10)})) AS n ORDER BY n LIMIT 2 OFFSET 20`),
    )
    const cost = { rowsRead: 1, bytesRead: 1, ms: expect.any(Number) }
    expect(answer).toEqual({ rows: [], total: 10, cost })
  })

  test('reads the result of a long statement with long values', async () => {
    const terms = join(
      Array.from({ length: 50_000 }, () => sql`1`),
      sql` + `,
    )
    const value = string('x'.repeat(5_000))
    const { rows } = await createQueryRunner(
      store,
      60_000,
    )<{ size: number }>(
      statement(
        sql`SELECT toUInt32(length(${value})) AS size FROM (SELECT 1 AS one) WHERE '${terms}' != ''`,
      ),
    )
    expect(rows).toEqual([{ size: 5_000 }])
  })

  test('reports the cost, subqueries included', async () => {
    const { cost } = await createQueryRunner(
      store,
      60_000,
    )(
      statement(sql`
SELECT count() FROM numbers(${uint64(1_000)})
WHERE toString(number) IN (SELECT toString(number) FROM numbers(${uint64(500)}))`),
    )
    expect(cost).toEqual({ rowsRead: 1_500, bytesRead: 12_000, ms: expect.any(Number) })
  })

  test('QUERY_TIMEOUT: the deadline passes, and the query is stopped in the engine', async () => {
    expect(await codeOf(createQueryRunner(store, 300)(ENDLESS))).toBe('QUERY_TIMEOUT')
    await untilIdle()
  })

  test('the query of a client that disconnects is stopped', async () => {
    const gone = new AbortController()
    const asked = codeOf(createQueryRunner(store, 30_000, { signal: gone.signal })(ENDLESS))
    await until(async () => (await running()) > 0)
    gone.abort()
    expect(await asked).toBe('QUERY_TIMEOUT')
    await untilIdle()
  })

  test('the query_id starts with the id of the request, and is another for each statement', async () => {
    const gone = new AbortController()
    const run = createQueryRunner(store, 30_000, { signal: gone.signal, requestId: 'request-1' })
    const asked = Promise.all([codeOf(run(ENDLESS)), codeOf(run(ENDLESS))])
    let ids: readonly string[] = []
    await until(async () => (ids = await runningIds('request-1')).length === 2)
    const form = expect.stringMatching(/^request-1-[0-9a-f-]{36}$/)
    expect([...new Set(ids)]).toEqual([form, form])
    gone.abort()
    expect(await asked).toEqual(['QUERY_TIMEOUT', 'QUERY_TIMEOUT'])
    await untilIdle()
  })

  test('no query runs for a client that has disconnected', async () => {
    expect(
      await codeOf(createQueryRunner(store, 30_000, { signal: AbortSignal.abort() })(ENDLESS)),
    ).toBe('QUERY_TIMEOUT')
    await untilIdle()
  })

  test('QUERY_TOO_EXPENSIVE: the engine refuses more memory', async () => {
    expect(await codeOf(createQueryRunner(store, 30_000)(HUGE))).toBe('QUERY_TOO_EXPENSIVE')
  })

  test('later queries are not affected', async () => {
    const run = createQueryRunner(store, 60_000)
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => run(statement(sql`SELECT ${uint64(i)} AS n`))),
    )
    expect(answers.map(({ rows }) => rows)).toEqual(answers.map((_, n) => [{ n }]))
  })

  test('the error for an unexpected failure of the store has no details of it', async () => {
    const error = await createQueryRunner(
      store,
      60_000,
    )(statement(sql`SELECT no_such_column FROM events`)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR', message: 'Something went wrong.' })
  })
})
