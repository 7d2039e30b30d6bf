/** The loader loads every event that the collector accepts: many unusual events are sent and loaded. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { createCollect } from '../../../src/ingest/collect/collect.js'
import { createInboxWriter } from '../../../src/ingest/inbox/inbox-writer.js'
import { eventBody } from '../../support/arbitrary/sent.js'
import { scaled } from '../../support/effort.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { newProject } from '../../support/world/world.js'
import { NOW, startApp, type RunningApp } from '../http/harness.js'
import { loadWaiting } from '../../support/store/loading.js'

const EVENTS = scaled(500)
const AT_ONCE = 50

let database: TestDatabase
let app: RunningApp
beforeAll(async () => {
  database = await createDatabase()
  const { store } = database
  const project = await newProject(store)
  const { write } = createInboxWriter(store.writer)
  app = await startApp({
    findProject: () => Promise.resolve(project),
    collect: createCollect(() => [{ write }]),
    now: () => NOW,
  })
})
afterAll(async () => {
  await app.stop()
  await database.drop()
})

/** The number of responses by status. */
async function send(bodies: readonly string[]): Promise<Readonly<Record<number, number>>> {
  const statuses: Record<number, number> = {}
  const rest = [...bodies]
  const sender = async (): Promise<void> => {
    for (let body = rest.pop(); body !== undefined; body = rest.pop()) {
      const { status } = await app.collect(body)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender))
  return statuses
}

test('no accepted event is rejected later', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const statuses = await send(fc.sample(eventBody, { numRuns: EVENTS, seed }))
  const accepted = statuses[202] ?? 0
  expect({ ...statuses, 202: accepted }).toEqual({ 202: accepted, 400: EVENTS - accepted })
  // The test needs enough of both to be meaningful.
  expect(accepted).toBeGreaterThan(EVENTS / 4)
  expect(accepted).toBeLessThan((EVENTS * 3) / 4)

  const { writer } = database.store
  await withLease(writer, 'loader', () => loadWaiting(writer))
  const rejections = await writer.query(
    statement(sql`SELECT DISTINCT reason, line FROM rejections LIMIT 10`),
  )
  expect({ seed, rejections: rejections.rows }).toEqual({ seed, rejections: [] })
  const loads = await writer.query<{ received: number }>(
    statement(sql`SELECT sum(received) AS received FROM loads FINAL`),
  )
  expect(loads.rows).toEqual([{ received: accepted }])
})
