/** The tables of users get larger granules without losing a row, wherever the upgrade is interrupted. */
import { expect, test } from '@jest/globals'
import {
  PACKAGE_MIGRATIONS,
  readMigrations,
} from '../../../src/clickhouse/migrations/migration-files.js'
import { sql } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { countPairs, newProject, send } from '../../support/world/world.js'

const database = withDatabase()

const readGroups = (store: Store): Promise<readonly unknown[]> =>
  select(
    store,
    sql`
SELECT * FROM (
SELECT 'day' AS grain, dimension, value, '' AS other, day AS date, groupBitmapMerge(users) AS members FROM users_daily GROUP BY ALL
UNION ALL
SELECT 'month', dimension, value, '', month, groupBitmapMerge(users) FROM users_monthly GROUP BY ALL
UNION ALL
SELECT 'month', dimension, value, other, month, groupBitmapMerge(users) FROM pair_users_monthly GROUP BY ALL
) ORDER BY ALL`,
  )

test('users are counted as before after an interruption behind any statement', async () => {
  const { store } = database
  const project = await newProject(store)
  await countPairs(store, project)
  const days = ['2025-12-31', '2026-01-01', '2026-02-01']
  const visits = days.flatMap((day) =>
    ['a', 'b', 'c'].map((user_id) => ({ timestamp: `${day}T10:00:00Z`, user_id, country: 'DE' })),
  )
  await send(store, project, visits)
  const migrations = await readMigrations(PACKAGE_MIGRATIONS)
  const { statements } = migrations.find(({ name }) => name === '0045_granules.sql')!
  const apply = async (queries: readonly string[]): Promise<void> => {
    for (const query of queries) await store.admin.execute({ query, query_params: {} })
  }
  const before = await readGroups(store)
  expect(before.length).toBeGreaterThan(100)
  for (const after of statements.keys()) {
    await apply(statements.slice(0, after))
    await apply(statements)
    expect(await readGroups(store)).toEqual(before)
  }
  const tables = sql`
SELECT name, extract(create_table_query, 'index_granularity = (\\\\d+)') AS granule FROM system.tables
WHERE database = currentDatabase() AND match(name, '^(pair_)?users_(daily|monthly)$') ORDER BY name`
  expect(await select(store, tables)).toEqual([
    { name: 'pair_users_monthly', granule: '1024' },
    { name: 'users_daily', granule: '1024' },
    { name: 'users_monthly', granule: '1024' },
  ])
})
