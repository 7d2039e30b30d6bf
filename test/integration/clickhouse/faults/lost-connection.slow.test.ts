/** A statement that takes longer than a balancer keeps a silent connection: its outcome is learnt, and it is sent once. */
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { identifier, sql, statement, string, type Sql } from '../../../../src/clickhouse/sql.js'
import { connectStore } from '../../../../src/clickhouse/store.js'
import {
  startChaosProxy,
  type ChaosProxy,
  type Fault,
} from '../../../support/faults/chaos-proxy.js'
import { withDatabase } from '../../../support/store/database.js'
import { select } from '../../../support/store/facts.js'

const database = withDatabase()

const STATEMENT_SECONDS = 3
const SILENT: Fault = { kind: 'latency', ms: 3_600_000 }

/** Takes some seconds, and then succeeds or fails. */
const insertSlowly = (table: string, isSuccess: boolean): Sql => sql`
INSERT INTO ${identifier(table)}
SELECT number + sleepEachRow(1) + throwIf(number = ${isSuccess ? sql`9` : sql`2`}, 'a row that fails') FROM numbers(3)
SETTINGS max_block_size = 1`

/** How many statements that insert into the table were sent. */
async function countSent(table: string): Promise<number> {
  const { store } = database
  await store.admin.execute(statement(sql`SYSTEM FLUSH LOGS query_log`))
  const rows = await select(
    store,
    sql`
SELECT query_id FROM system.query_log
WHERE current_database = currentDatabase() AND type != 'QueryStart' AND query_kind = 'Insert' AND position(query, ${string(table)}) > 0`,
  )
  return rows.length
}

async function isRunning(table: string): Promise<boolean> {
  const rows = await select(
    database.store,
    sql`
SELECT 1 FROM system.processes
WHERE current_database = currentDatabase() AND query_kind = 'Insert' AND position(query, ${string(table)}) > 0`,
  )
  return rows.length > 0
}

/** Runs the statement through a proxy. Returns how it ended, the stored rows, and how often it was sent. */
async function insertThrough(
  table: string,
  isSuccess: boolean,
  interrupt: (proxy: ChaosProxy, untilSent: () => Promise<void>) => Promise<void>,
): Promise<readonly [outcome: string, rows: readonly unknown[], sent: number]> {
  const { store, endpoint } = database
  await store.admin.execute(
    statement(sql`CREATE TABLE ${identifier(table)} (n UInt64) ENGINE = MergeTree ORDER BY n`),
  )
  const proxy = await startChaosProxy(endpoint.url)
  const connected = connectStore({ ...endpoint, url: proxy.url })
  try {
    const begun = performance.now()
    const ended = connected.admin.execute(statement(insertSlowly(table, isSuccess))).then(
      () => 'succeeded',
      (error: unknown) => /a row that fails|$/.exec(String(error))![0] || String(error),
    )
    await interrupt(proxy, async () => {
      while (!(await isRunning(table))) await sleep(20)
    })
    const outcome = await ended
    expect(performance.now() - begun).toBeGreaterThan(STATEMENT_SECONDS * 900)
    const rows = await select<{ n: number }>(
      store,
      sql`SELECT n FROM ${identifier(table)} ORDER BY n`,
    )
    return [outcome, rows.map(({ n }) => n), await countSent(table)]
  } finally {
    await connected.close()
    await proxy.stop()
  }
}

test.each<[string, string, boolean, readonly [string, readonly number[], number]]>([
  ['succeeds', 'cut_succeeding', true, ['succeeded', [0, 1, 2], 1]],
  ['fails', 'cut_failing', false, ['a row that fails', [], 1]],
])(
  'each connection is reset after a second, and the statement %s',
  async (_how, table, isSuccess, wanted) => {
    const outcome = await insertThrough(table, isSuccess, (proxy) => {
      proxy.fail({ kind: 'impatient', ms: 1_000 })
      return Promise.resolve()
    })
    expect(outcome).toEqual(wanted)
  },
)

test('the response never comes, because the balancer has forgotten the connection', async () => {
  const outcome = await insertThrough('forgotten', true, async (proxy, untilSent) => {
    let isForgotten = true
    proxy.fail(() => (isForgotten ? SILENT : { kind: 'none' }))
    await untilSent()
    isForgotten = false
  })
  expect(outcome).toEqual(['succeeded', [0, 1, 2], 1])
})

test('the store is out of reach for a while when the connection is reset', async () => {
  const outcome = await insertThrough('out_of_reach', true, async (proxy, untilSent) => {
    await untilSent()
    proxy.fail({ kind: 'reject' })
    proxy.killAll()
    await sleep(500)
    proxy.fail({ kind: 'none' })
  })
  expect(outcome).toEqual(['succeeded', [0, 1, 2], 1])
})
