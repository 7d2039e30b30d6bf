/** A server that closes idle connections, even at the very moment at which they are used again: no query fails. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { createQueryRunner } from '../../../../src/clickhouse/run.js'
import { sql, statement, uint64 } from '../../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'
import { startChaosProxy, type ChaosProxy } from '../../../support/faults/chaos-proxy.js'

const IDLE_MS = 1_000
/** The reader may run 80 queries at once. */
const [STORES, LANES, ROUNDS] = [3, 25, 14]
/** The gaps between two queries of a lane, in milliseconds. */
const GAPS = { least: 900, most: 1_100 }

let proxy: ChaosProxy
let stores: Store[]
beforeAll(async () => {
  proxy = await startChaosProxy(getTestEndpoint().url)
  const endpoint = { ...getTestEndpoint(), url: proxy.url }
  stores = Array.from({ length: STORES }, () => connectStore(endpoint))
})
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await proxy.stop()
})

test(`${STORES * LANES * ROUNDS} queries, each about a second after the last one`, async () => {
  proxy.fail({ kind: 'idle', ms: IDLE_MS })
  const wrong: unknown[] = []
  const lane = async (store: Store, n: number): Promise<void> => {
    const run = createQueryRunner(store, 60_000)
    for (let round = 0; round < ROUNDS; round++) {
      const { rows } = await run<{ n: number }>(statement(sql`SELECT ${uint64(n)} AS n`))
      if (rows.length !== 1 || rows[0]?.n !== n) wrong.push({ n, rows })
      // All lanes of a round ask at almost the same time, so that each reuses a connection of its own.
      const share = (round * LANES + n) / (ROUNDS * LANES)
      await sleep(GAPS.least + share * (GAPS.most - GAPS.least))
    }
  }
  await Promise.all(
    stores.flatMap((store) => Array.from({ length: LANES }, (_, n) => lane(store, n))),
  )
  expect(wrong).toEqual([])
})

test('a query while all open connections were closed unnoticed', async () => {
  proxy.fail({ kind: 'one request' })
  const store = connectStore({ ...getTestEndpoint(), url: proxy.url })
  stores.push(store)
  const ask = async (n: number): Promise<readonly unknown[]> =>
    (
      await createQueryRunner(
        store,
        60_000,
      )<{ n: number }>(statement(sql`SELECT ${uint64(n)} AS n`))
    ).rows
  const lanes = Array.from({ length: LANES }, (_, n) => n)
  expect(await Promise.all(lanes.map(ask))).toEqual(lanes.map((n) => [{ n }]))
  // One after the other, so that each finds the other open connections.
  for (const n of lanes) expect(await ask(n)).toEqual([{ n }])
})
