/** A store that hangs: every statement ends, by its signal, and leaves nothing behind. */
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { Readable } from 'node:stream'
import type { Connection } from '../../../../src/clickhouse/connection.js'
import { fenceConnection } from '../../../../src/clickhouse/connection-wrappers.js'
import { QueryCancelledError } from '../../../../src/clickhouse/errors.js'
import { createQueryRunner } from '../../../../src/clickhouse/run.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'
import { startChaosProxy, type ChaosProxy } from '../../../support/faults/chaos-proxy.js'
import { until } from '../../../support/until.js'

const ONE = statement(sql`SELECT 1 AS n`)
const INSERT = statement(sql`INSERT INTO FUNCTION null('n UInt8') FORMAT JSONEachRow`)
const ENDLESS = statement(
  sql`INSERT INTO FUNCTION null('n UInt64') SELECT sipHash64(number) FROM numbers(1000000000000)`,
)

let proxy: ChaosProxy
let store: Store
beforeEach(async () => {
  proxy = await startChaosProxy(getTestEndpoint().url)
  store = connectStore({ ...getTestEndpoint(), url: proxy.url })
})
afterEach(async () => {
  await store.close()
  await proxy.stop()
})

type Call = (connection: Connection, signal: AbortSignal) => Promise<unknown>
const CALLS: readonly (readonly [string, Call])[] = [
  ['query', (connection, signal) => connection.query(ONE, { signal })],
  ['execute', (connection, signal) => connection.execute(ENDLESS, {}, signal)],
  [
    'upload',
    (connection, signal) =>
      connection.upload(INSERT, Readable.from([Buffer.from('{"n":1}')]), {}, signal),
  ],
]

test.each(CALLS)(
  'black hole: %s ends with its signal, and the next one works',
  async (_name, call) => {
    proxy.fail({ kind: 'black hole' })
    const signal = AbortSignal.timeout(100)
    await expect(call(store.admin, signal)).rejects.toBeInstanceOf(QueryCancelledError)
    await until(() => proxy.connections() === 0)
    proxy.fail({ kind: 'none' })
    expect((await store.admin.query(ONE)).rows).toEqual([{ n: 1 }])
  },
)

test.each(CALLS)('%s is not sent when its signal is aborted already', async (_name, call) => {
  const given = call(store.admin, AbortSignal.abort('early'))
  await expect(given).rejects.toThrow(new QueryCancelledError('early'))
  expect(proxy.connections()).toBe(0)
})

test.each(CALLS)('a lost lease ends %s while it runs', async (_name, call) => {
  proxy.fail({ kind: 'black hole' })
  const lost = new AbortController()
  const fenced = fenceConnection(store.admin, lost.signal)
  const given = call(fenced, new AbortController().signal)
  setTimeout(() => lost.abort(new Error('the lease was lost')), 50)
  await expect(given).rejects.toThrow('the lease was lost')
})

test('a statement whose lease was lost is ended in the store', async () => {
  const lost = new AbortController()
  const given = fenceConnection(store.admin, lost.signal).execute(ENDLESS)
  const isRunning = async (): Promise<boolean> =>
    (
      await store.admin.query(
        statement(
          sql`SELECT 1 FROM system.processes WHERE query LIKE 'INSERT INTO FUNCTION null%numbers(1000000000000)%'`,
        ),
      )
    ).rows.length > 0
  await until(isRunning)
  lost.abort(new Error('the lease was lost'))
  await expect(given).rejects.toThrow('the lease was lost')
  await until(async () => !(await isRunning()))
})

test('the response stops after the headers: a query ends at its deadline', async () => {
  // The limits of the account are read with the first query.
  await createQueryRunner(store, 60_000)(ONE)
  proxy.fail({ kind: 'trickle', bytes: 40, ms: 100 })
  const run = createQueryRunner(store, 400)(ONE).catch((error: unknown) => error)
  expect(await run).toMatchObject({ code: 'QUERY_TIMEOUT' })
})

test.each<[string, Parameters<ChaosProxy['fail']>[0]]>([
  ['black hole', { kind: 'black hole' }],
  ['trickle', { kind: 'trickle', bytes: 10, ms: 100 }],
])('%s: a ping ends in time', async (_name, fault) => {
  proxy.fail(fault)
  expect(await store.lookups.ping(200)).toBe(false)
})

test('cancelled queries of a hung store leave no connections that wait', async () => {
  proxy.fail({ kind: 'black hole' })
  const run = Array.from({ length: 200 }, () =>
    store.reader.query(ONE, { signal: AbortSignal.timeout(100) }).catch(() => undefined),
  )
  await Promise.all(run)
  // Two KILLs follow each, at most 32 of them at once, and the store is pinged.
  await until(() => proxy.connections() <= 33)
})
