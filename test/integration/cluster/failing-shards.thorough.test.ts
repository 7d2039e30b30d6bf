/** Queries across shards when one of them fails: the error that the caller gets, and that the other shards stop working. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createQueryRunner, type QueryScope } from '../../../src/clickhouse/run.js'
import { sql, statement, type Sql, type Statement } from '../../../src/clickhouse/sql.js'
import { openReader } from '../../../src/cluster/shard-reads.js'
import { ApiError } from '../../../src/contract/errors.js'
import { startCluster, type TestCluster } from '../../support/cluster/cluster.js'
import { until } from '../../support/until.js'

let cluster: TestCluster
beforeAll(async () => {
  cluster = await startCluster(2)
})
afterAll(() => cluster.stop())

/** A statement that both shards compute. */
const onBoth = (select: Sql): Statement =>
  statement(sql`SELECT sum(n) AS n FROM cluster('tallyhouse_1_2', view(${select}))`)
const ONE = onBoth(sql`SELECT toUInt32(1) AS n`)
const ENDLESS = onBoth(sql`SELECT sum(sipHash64(number)) AS n FROM numbers(1000000000000)`)
const HUGE = onBoth(
  sql`SELECT length(groupArray(concat(repeat('x', 1000000), toString(number)))) AS n FROM numbers(100000)`,
)
const MANY = onBoth(
  sql`SELECT count() AS n FROM (SELECT number FROM numbers(20000000) GROUP BY number)`,
)

const run = (asked: Statement, timeoutMs = 30_000, scope?: QueryScope) =>
  createQueryRunner(
    { ...cluster.home.store, reader: openReader(cluster.shards) },
    timeoutMs,
    scope,
  )<{ n: number }>(asked)

const getCode = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof ApiError ? error.code : error),
  )

/** Counts the queries of the reader that each shard works on. */
const countRunning = (): Promise<readonly number[]> =>
  Promise.all(
    cluster.shards.map(async ({ store }) => {
      const { rows } = await store.admin.query<{ n: number }>(
        statement(
          sql`SELECT toUInt32(count()) AS n FROM system.processes WHERE position(query, 'numbers(1000000000000)') > 0 AND query_id != queryID()`,
        ),
      )
      return rows[0]!.n
    }),
  )

/** Waits until each shard works on this number of queries. */
const untilRunning = (wanted: readonly [number, number]) =>
  until(async () => String(await countRunning()) === String(wanted))
const untilAnswered = () => until(async () => (await getCode(run(ONE))) === 'none')

test('both shards answer', async () => {
  expect((await run(ONE)).rows).toEqual([{ n: 2 }])
})

// The first shard works on the statement, and on its part of it.
test('a query whose deadline passes is stopped on every shard', async () => {
  const asked = getCode(run(ENDLESS, 3_000))
  await untilRunning([2, 1])
  expect(await asked).toBe('QUERY_TIMEOUT')
  await untilRunning([0, 0])
})

test('a query whose client disconnects is stopped on every shard', async () => {
  const gone = new AbortController()
  const asked = getCode(run(ENDLESS, 30_000, { signal: gone.signal }))
  await untilRunning([2, 1])
  gone.abort()
  expect(await asked).toBe('QUERY_TIMEOUT')
  await untilRunning([0, 0])
})

test.each([
  ['memory', HUGE],
  ['groups', MANY],
])('a limit that a shard reaches is that of the query: %s', async (_what, asked) => {
  expect(await getCode(run(asked))).toBe('QUERY_TOO_EXPENSIVE')
})

describe('a shard that does not answer makes the answer unavailable, never a part of it', () => {
  test('the shard hangs', async () => {
    const { pid } = cluster.engines[1]!
    const { store } = cluster.shards[1]!
    process.kill(pid, 'SIGSTOP')
    try {
      const asked = getCode(run(ONE))
      // A service looks for changes of the data on each shard while it is asked.
      const lookup = store.lookups.query(ONE, { signal: AbortSignal.timeout(250) })
      await expect(lookup).rejects.toThrow()
      expect(await asked).toBe('SERVICE_UNAVAILABLE')
      // It does not wait for its deadline.
      expect(await getCode(run(ONE))).toBe('SERVICE_UNAVAILABLE')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await untilAnswered()
    expect((await run(ONE)).rows).toEqual([{ n: 2 }])
  })

  test('the shard dies while it works', async () => {
    const asked = getCode(run(ENDLESS))
    await untilRunning([2, 1])
    process.kill(cluster.engines[1]!.pid, 'SIGKILL')
    expect(await asked).toBe('SERVICE_UNAVAILABLE')
    await untilAnswered()
    expect((await run(ONE)).rows).toEqual([{ n: 2 }])
    await untilRunning([0, 0])
  })

  test('the shard is away', async () => {
    await cluster.engines[1]!.stop()
    expect(await getCode(run(ONE))).toBe('SERVICE_UNAVAILABLE')
  })
})
