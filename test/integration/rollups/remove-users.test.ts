/** Users leave many groups at once: by one statement for each table, whose lists ClickHouse evaluates once. */
import { expect, test } from '@jest/globals'
import { identifier, sql, statement } from '../../../src/clickhouse/sql.js'
import { removeUsersFromRollups } from '../../../src/rollups/remove-users.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'

const database = withDatabase()

const GROUPS = 40_000
const STALE = identifier('stale_groups')

test('a user leaves 40,000 groups, and the others stay in them', async () => {
  const { store } = database
  const execute = (query: ReturnType<typeof sql>): Promise<void> =>
    store.writer.execute(statement(query))
  await execute(sql`
INSERT INTO users_daily (project_id, dimension, value, day, users)
SELECT 'prj', 'page:path', toString(number), '2026-01-31', groupBitmapState(arrayJoin([1, 2]::Array(UInt32)))
FROM numbers(40001) GROUP BY number`)
  await execute(sql`
CREATE TABLE ${STALE} ENGINE = MergeTree ORDER BY value AS
SELECT
  'daily' AS grain, 'prj' AS project_id, 'page:path' AS dimension, toString(number) AS value, '' AS other,
  toDate('2026-01-31') AS day, 1::UInt32 AS user
FROM numbers(40000)`)

  await removeUsersFromRollups(store.writer, { stale: STALE, generation: 7 })

  const rows = sql`
SELECT generation, bitmapToArray(users) AS members, toUInt32(count()) AS stored
FROM (SELECT generation, users FROM users_daily) GROUP BY ALL ORDER BY stored`
  expect(await select(store, rows)).toEqual([
    { generation: 0, members: [1, 2], stored: 1 },
    { generation: 7, members: [2], stored: GROUPS },
  ])
  // ClickHouse would evaluate a longer list again for each block of rows.
  const mutations = sql`
SELECT count() AS statements, max(arrayMax(list -> length(splitByChar(',', list)), extractAll(command, '\\'([0-9,]{40,})\\''))) < 20000 AS areShort
FROM system.mutations WHERE database = currentDatabase() AND table = 'users_daily'`
  expect(await select(store, mutations)).toEqual([{ statements: 1, areShort: 1 }])
})
