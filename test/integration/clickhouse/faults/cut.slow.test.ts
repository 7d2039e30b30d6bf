/** Responses of ClickHouse that are cut anywhere: a query gets all rows or an error, and the next one is answered. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createQueryRunner } from '../../../../src/clickhouse/run.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import type { ApiError } from '../../../../src/contract/errors.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'
import { startChaosProxy, type ChaosProxy } from '../../../support/faults/chaos-proxy.js'

const STEP = 97
const MAX_BYTES = 20_000
const PATHS = statement(sql`SELECT concat('/path/', toString(number)) AS path, number AS views
  FROM numbers(100)`)
const ROWS = Array.from({ length: 100 }, (_, n) => ({ path: `/path/${n}`, views: n }))

let proxy: ChaosProxy
let changes: boolean[]
let store: Store
beforeAll(async () => {
  proxy = await startChaosProxy(getTestEndpoint().url)
  changes = []
  const endpoint = { ...getTestEndpoint(), url: proxy.url }
  store = connectStore(endpoint, undefined, undefined, (isOpen) => changes.push(isOpen))
})
afterAll(async () => {
  await store.close()
  await proxy.stop()
})

/** Returns the rows, or the code of the error that clients of the API get. */
const ask = (): Promise<unknown> =>
  createQueryRunner(
    store,
    5_000,
  )(PATHS).then(
    ({ rows }) => rows,
    (error: unknown) => (error as ApiError).code,
  )

test.each(['RST', 'FIN'] as const)('cut by %s', async (by) => {
  expect(await ask()).toEqual(ROWS)
  const cuts: number[] = []
  let answer: unknown
  for (let after = 1; answer === undefined && after < MAX_BYTES; after += STEP) {
    proxy.fail({ kind: 'cut', after, by })
    const given = await ask()
    if (given === 'SERVICE_UNAVAILABLE') cuts.push(after)
    else answer = given
    proxy.fail({ kind: 'none' })
    expect(await ask()).toEqual(ROWS)
  }
  expect(answer).toEqual(ROWS)
  // The response has a few thousand bytes, or the test means nothing.
  expect(cuts.length).toBeGreaterThan(3_000 / STEP)
  expect(changes).toEqual([])
})
