/** A load that an earlier build has staged: its tables lack the columns of dimensions that this build has gained. */
import { expect, test } from '@jest/globals'
import { declaredName, identifier, join, sql, statement } from '../../../../src/clickhouse/sql.js'
import { findUnfinishedLoads } from '../../../../src/ingest/loader/load-log.js'
import { breakAfter, BrokenError } from '../../../support/store/breaking.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, listLeftovers } from '../../../support/store/facts.js'
import { checkRollups, loadStream, loadWaiting } from '../../../support/store/loading.js'
import { feed } from '../../../support/store/stream.js'
import { createWorld, runQuery } from '../../../support/world/world.js'

const database = withDatabase()

/** What the earlier build did not know: a dimension with rollups, and one that only filters. */
const MISSING = {
  rows: ['os', 'referrer_url'],
  sessions: ['os', 'referrer_url'],
  past: ['os', 'referrer_url', 'new_os', 'new_referrer_url'],
  moved: ['os', 'referrer_url'],
} as const

test('it is published with the default values of the missing columns', async () => {
  const { store } = database
  const project = await createWorld(store, [
    { timestamp: '2026-01-10T10:10:00Z', user_id: 'a', path: '/b', country: 'DE' },
  ])
  // The first event comes before the stored session and so moves it.
  await feed(store, project.id, [
    { timestamp: '2026-01-10T10:00:00Z', user_id: 'a', path: '/a', country: 'FR', os: 'Linux' },
    { timestamp: '2026-01-10T11:00:00Z', user_id: 'b', path: '/a', country: 'DE', os: 'Linux' },
  ])
  await expect(loadStream(breakAfter(store.writer, /INSERT INTO users/))).rejects.toThrow(
    BrokenError,
  )
  const [staged] = await findUnfinishedLoads(store.writer)
  for (const [table, columns] of Object.entries(MISSING)) {
    const drops = columns.map((column) => sql`DROP COLUMN ${declaredName(column)}`)
    const name = identifier(`load_${staged!.number}_${table}`)
    await store.writer.execute(statement(sql`ALTER TABLE ${name} ${join(drops)}`))
  }
  await loadWaiting(store.writer)
  const { data } = await runQuery(store, project, {
    date_range: ['2026-01-10', '2026-01-10'],
    metrics: ['users', 'pageviews', 'visits', 'visit_duration'],
    group_by: ['country'],
    then_by: ['os'],
  })
  expect(data).toEqual([
    {
      group: { country: 'DE', os: '' },
      metrics: { users: 1, pageviews: 1, visits: 1, visit_duration: 0 },
    },
    {
      group: { country: 'FR', os: '' },
      metrics: { users: 1, pageviews: 2, visits: 1, visit_duration: 600 },
    },
  ])
  await expectConsistentFacts(store, project.id)
  expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
  expect(await listLeftovers(store)).toEqual([])
})
