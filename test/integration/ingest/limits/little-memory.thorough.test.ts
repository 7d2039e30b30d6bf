/** Loads of an engine with little memory: what does not fit at once is published in parts, and keeps nobody waiting. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql, statement, string, uint32 } from '../../../../src/clickhouse/sql.js'
import { createLogger } from '../../../../src/lib/log.js'
import { startServer, type Server } from '../../../support/engine/server.js'
import { expectConsistentFacts, listLeftovers, select } from '../../../support/store/facts.js'
import { rebuildRollups, startStreamingLoader } from '../../../support/store/loading.js'
import { feed } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'
import { until } from '../../../support/until.js'

const GIB = 1024 ** 3

let server: Server
beforeAll(async () => {
  const limitWriter = (users: string): string =>
    users.replace('3435973836', String(Math.floor(GIB * 0.8)))
  server = await startServer(limitWriter, { serverMemory: GIB, queryMemory: GIB / 4 })
})
afterAll(() => server.stop())

const countEvents = async (id: string): Promise<number> =>
  (
    await select<{ n: number }>(
      server.store,
      sql`SELECT count() AS n FROM events WHERE project_id = ${string(id)}`,
    )
  )[0]!.n

const HEAVY = 9_000

/** Inserts events with 64 properties each, all of whose values differ. */
const feedHeavy = (id: string): Promise<void> =>
  server.store.writer.execute(
    statement(sql`
INSERT INTO inbox (project, line)
SELECT ${string(id)}, concat(
  '{"timestamp":"2026-01-31T10:00:00Z","user_id":"u', toString(number), '","properties":{',
  arrayStringConcat(arrayMap(i -> concat('"p', toString(i), '":"', hex(sipHash64(number, i)), '"'), range(64)), ','),
  '}}')
FROM numbers(${uint32(HEAVY)})`),
  )

test('a load of more than fits into memory is published in slices, and others follow it', async () => {
  const { store } = server
  const heavy = await newProject(store)
  const other = await newProject(store)
  await feedHeavy(heavy.id)
  const long = 'x'.repeat(900_000)
  await feed(store, other.id, [
    { timestamp: '2026-01-31T10:00:00Z', user_id: 'a' },
    { timestamp: '2026-01-31T10:00:01Z', user_id: `1${long}` },
    { timestamp: '2026-01-31T10:00:02Z', user_id: `2${long}` },
    { timestamp: '2026-01-31T10:00:03Z', user_id: 'b' },
  ])
  const loader = startStreamingLoader({ store, logger: createLogger('silent') })
  await until(async () => (await countEvents(other.id)) >= 2)
  await loader.stop()
  expect({
    heavy: await countEvents(heavy.id),
    other: await countEvents(other.id),
    isSliced: (
      await select(
        store,
        sql`SELECT max(slices) > 1 AS sliced, countIf(step = 4) AS failed FROM loads`,
      )
    )[0],
    rejections: await select(store, sql`SELECT reason FROM rejections`),
    leftovers: await listLeftovers(store),
  }).toEqual({
    heavy: HEAVY,
    other: 2,
    isSliced: { sliced: 1, failed: 0 },
    rejections: Array.from({ length: 2 }, () => ({
      reason: expect.stringMatching(/user_id: must have at most 256 characters/),
    })),
    leftovers: [],
  })
  await expectConsistentFacts(store, heavy.id)
  // Each value of each property is counted once. `checkRollups` needs more memory than this engine has.
  expect(
    await select(
      store,
      sql`
SELECT count() AS groups, min(counted) AS least, max(counted) AS most
FROM (
  SELECT sum(pageviews + events) AS counted FROM events_daily
  WHERE project_id = ${string(heavy.id)} AND match(dimension, 'p[0-9]+$') GROUP BY dimension, value
)`,
    ),
  ).toEqual([{ groups: 64 * HEAVY, least: 1, most: 1 }])

  // Rebuilt in smaller blocks, the rollups are the same.
  const count = () =>
    select(
      store,
      sql`SELECT count() AS n, sum(sipHash64(* EXCEPT users)) AS hash FROM (SELECT * FROM events_daily FINAL)`,
    )
  const before = await count()
  await rebuildRollups(store.writer, {})
  expect(await count()).toEqual(before)
})
