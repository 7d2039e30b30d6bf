/** A project that sends more than can be loaded at once is refused until that is loaded; others are not. */
import { expect, test } from '@jest/globals'
import { createLogger } from '../../../src/lib/log.js'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { createLoaderMonitor } from '../../../src/ingest/loader/loader-state.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { startStreamingLoader } from '../../support/store/loading.js'
import { startTestService } from '../../support/world/service.js'
import { newProject } from '../../support/world/world.js'
import { until } from '../../support/until.js'

const INTERVALS = { loadMs: 50, pollMs: 20 }

const database = withDatabase()

/** Events of 65 different values each. */
const heavy = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({
    user_id: 'u',
    properties: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`k${i}`, `${n}-${i}`])),
  }))

test('events are refused until those before them are loaded', async () => {
  const { store } = database
  const [sender, other] = [await newProject(store), await newProject(store)]
  const monitor = createLoaderMonitor()
  const service = await startTestService({
    store,
    now: () => new Date(),
    env: { MAX_WAITING_VALUES: '600' },
    readInbox: monitor.readInbox,
  })
  const send = async ({ token }: StoredProject, events: readonly object[]): Promise<number> => {
    const response = await fetch(`${service.address}/v1/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify(events),
    })
    await response.arrayBuffer()
    return response.status
  }
  const count = async ({ id }: StoredProject): Promise<number> =>
    (
      await select<{ n: number }>(
        store,
        sql`SELECT count() AS n FROM events WHERE project_id = ${string(id)}`,
      )
    )[0]!.n

  expect([
    await send(sender, heavy(5)),
    await send(sender, heavy(5)),
    await send(sender, [{ user_id: 'u' }]),
    await send(other, [{ user_id: 'u' }]),
  ]).toEqual([202, 429, 202, 202])
  const loader = startStreamingLoader({
    store,
    logger: createLogger('silent'),
    monitor,
    intervals: INTERVALS,
  })
  try {
    await until(async () => (await send(sender, heavy(5))) === 202)
    await until(async () => (await count(sender)) === 11)
    expect(await count(other)).toBe(1)
  } finally {
    await loader.stop()
    await service.stop()
  }
})
