/** A backlog: thousands of inserts arrive while nothing can be loaded, and then loads catch up. */
import { expect, test } from '@jest/globals'
import { withLease } from '../../../../src/clickhouse/lease/lease.js'
import { sql, statement, string, uint32 } from '../../../../src/clickhouse/sql.js'
import { createLogger } from '../../../../src/lib/log.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, listLeftovers, select } from '../../../support/store/facts.js'
import { startStreamingLoader } from '../../../support/store/loading.js'
import { feed } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'
import { until } from '../../../support/until.js'

const database = withDatabase()

/** The parts of the inbox above which ClickHouse delays inserts; it refuses them at 10,000. */
const MAX_PARTS = 3_000
const INSERTS = 2_000
const ROWS_PER_INSERT = 5

const countParts = async (): Promise<number> =>
  (await select<{ n: number }>(database.store, sql`SELECT uniqExact(_part) AS n FROM inbox`))[0]!.n

/** Makes a part of every block, as each insert of a collector does. */
const insertMany = (id: string, from: number, rows: number): Promise<void> =>
  database.store.writer.execute(
    statement(sql`
INSERT INTO inbox (project, line)
SELECT ${string(id)}, concat('{"timestamp":"2026-01-31T10:00:00Z","user_id":"u","path":"/', toString(number), '"}')
FROM numbers(${uint32(from)}, ${uint32(rows)})`),
    {
      max_block_size: String(ROWS_PER_INSERT),
      min_insert_block_size_rows: String(ROWS_PER_INSERT),
      max_insert_threads: '1',
    },
  )

test('thousands of inserts are merged while they wait, and loaded', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const counts = async (): Promise<object> =>
    (
      await select<object>(
        store,
        sql`SELECT count() AS n, uniqExact(path) AS paths FROM events WHERE project_id = ${string(id)}`,
      )
    )[0]!
  await withLease(store.writer, 'loader', async () => {
    const rows = INSERTS * ROWS_PER_INSERT
    for (let from = 0; from < rows; from += rows / 4) await insertMany(id, from, rows / 4)
    await until(async () => (await countParts()) < MAX_PARTS / 10)
  })
  const later = await newProject(store)
  const loader = startStreamingLoader({ store, logger: createLogger('silent') })
  try {
    await feed(store, later.id, [{ timestamp: '2026-01-31T10:00:00Z', user_id: 'late' }])
    await until(
      async () =>
        (
          await select(
            store,
            sql`SELECT 1 FROM events WHERE project_id = ${string(later.id)} LIMIT 1`,
          )
        ).length > 0,
    )
    await until(async () => (await listLeftovers(store)).length === 0)
  } finally {
    await loader.stop()
  }
  const all = INSERTS * ROWS_PER_INSERT
  expect(await counts()).toEqual({ n: all, paths: all })
  await expectConsistentFacts(store, id)
})
