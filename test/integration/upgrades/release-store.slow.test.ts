/** This build opens the stores of earlier releases: what they left undone is finished, and counted exactly once. */
import { expect, test } from '@jest/globals'
import { sql } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { findUnfinishedDeletions } from '../../../src/deletion/journal.js'
import { findUnfinishedLoads } from '../../../src/ingest/loader/load-log.js'
import { countWaitingRows } from '../../../src/ingest/loader/stream.js'
import { readRollupState } from '../../../src/rollups/progress.js'
import { runCli } from '../../support/cli/cli.js'
import { createDatabase } from '../../support/store/database.js'
import { expectConsistentFacts, listLeftovers, select } from '../../support/store/facts.js'
import { listReleases, openReleaseStore, waitFor } from '../../support/stores/open-release-store.js'
import { COUNTED } from '../../support/stores/release-store.js'

test.each(listReleases())(
  'the store of %s',
  async (release) => {
    const { store, dataDir, query, close } = await openReleaseStore(release)
    try {
      const { request, ...counted } = COUNTED
      expect(await waitFor(counted, () => query(request))).toEqual(counted)
      expect(await waitFor([], () => listLeftovers(store))).toEqual([])
      expect(await waitFor([], () => findUnfinishedLoads(store.writer))).toEqual([])
      expect(await waitFor([], () => findUnfinishedDeletions(store.writer))).toEqual([])
      expect(await countWaitingRows(store.writer)).toMatchObject({ rows: 0 })
      // Nothing is left of the project that was being deleted.
      expect(await select(store, PROJECTS)).toEqual([
        { name: 'events', id: 'shop' },
        { name: 'projects', id: 'shop' },
        { name: 'sessions', id: 'shop' },
      ])
      // Rollups of another definition are built while the service runs.
      expect(await waitFor('current', () => readRollupState(store.writer))).toBe('current')
      expect(await readSchema(store)).toEqual(await readNewSchema())
      await expectConsistentFacts(store, 'shop')
      expect(await query({ ...BY_PATH, group_by: ['page:path'] })).toEqual({
        data: [
          { group: { 'page:path': '/' }, metrics: { pageviews: 5, users: 5 } },
          { group: { 'page:path': '/pricing' }, metrics: { pageviews: 2, users: 2 } },
          { group: { 'page:path': '/blog' }, metrics: { pageviews: 1, users: 1 } },
          { group: { 'page:path': '/early' }, metrics: { pageviews: 1, users: 1 } },
        ],
      })
      expect(await query({ ...BY_PLAN, group_by: ['event:prop:plan'] })).toEqual({
        data: [
          { group: { 'event:prop:plan': 'free' }, metrics: { events: 1 } },
          { group: { 'event:prop:plan': 'pro' }, metrics: { events: 1 } },
        ],
      })
      const check = await runCli(['rollups', 'check'], { DATA_DIR: dataDir })
      expect(check).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^months {2}1\ngroups {2}\d+\ndiffer {2}none\n$/),
        stderr: '2026-01 compared\n',
      })
    } finally {
      await close()
    }
  },
  1_200_000,
)

/** Reads how all tables and views but those of leases were created, whatever the order of their settings. */
async function readSchema(store: Store): Promise<unknown> {
  const tables = await select<{ name: string; query: string }>(
    store,
    sql`
SELECT name, replaceAll(create_table_query, currentDatabase(), 'db') AS query FROM system.tables
WHERE database = currentDatabase() AND NOT startsWith(name, 'lease_') ORDER BY name`,
  )
  return tables.map(({ name, query }) => {
    const [table = '', settings = ''] = query.replace(/ COMMENT '[^']*'$/, '').split(' SETTINGS ')
    return { name, table, settings: settings.split(', ').sort() }
  })
}

/** Reads the schema of a store that this build creates. */
async function readNewSchema(): Promise<unknown> {
  const database = await createDatabase()
  try {
    return await readSchema(database.store)
  } finally {
    await database.drop()
  }
}

const PROJECTS = sql`
SELECT * FROM (
  SELECT 'projects' AS name, id FROM projects FINAL
  UNION ALL SELECT DISTINCT 'events', project_id FROM events
  UNION ALL SELECT DISTINCT 'sessions', project_id FROM sessions
)
ORDER BY name, id`
const BY_PATH = { date_range: 'all', metrics: ['pageviews', 'users'] }
const BY_PLAN = { date_range: 'all', metrics: ['events'] }
