/** This build opens the stores of earlier releases: what they left undone is finished, and counted exactly once. */
import { expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { sql } from '../../../src/clickhouse/sql.js'
import { findUnfinishedDeletions } from '../../../src/deletion/journal.js'
import { findUnfinishedLoads } from '../../../src/ingest/loader/load-log.js'
import { countWaitingRows } from '../../../src/ingest/loader/stream.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { runCli } from '../../support/cli/cli.js'
import { expectConsistentFacts, listLeftovers, select } from '../../support/store/facts.js'
import { openReleaseStore, waitFor } from '../../support/stores/open-release-store.js'
import { COUNTED } from '../../support/stores/release-store.js'

const RELEASES = readdirSync(packagePath('test/support/stores')).flatMap(
  (name) => /^store-of-(\d+\.\d+\.\d+)\.tar\.gz$/.exec(name)?.[1] ?? [],
)

test.each(RELEASES)(
  'the store of %s',
  async (release) => {
    const { store, dataDir, query, close } = await openReleaseStore(release)
    try {
      const { request, ...counted } = COUNTED
      expect(await waitFor(counted, () => query(request))).toEqual(counted)
      expect(await waitFor([], () => listLeftovers(store))).toEqual([])
      expect(await findUnfinishedLoads(store.reader)).toEqual([])
      expect(await findUnfinishedDeletions(store.reader)).toEqual([])
      expect(await countWaitingRows(store.reader)).toMatchObject({ rows: 0 })
      expect(
        await select(
          store,
          sql`
SELECT id FROM projects FINAL UNION ALL
SELECT DISTINCT project_id FROM (SELECT project_id FROM events UNION ALL SELECT project_id FROM sessions)
ORDER BY id`,
        ),
      ).toEqual([{ id: 'shop' }, { id: 'shop' }])
      await expectConsistentFacts(store, 'shop')
      expect(await query({ ...BY_PATH, group_by: ['page:path'] })).toEqual({
        data: [
          { group: { 'page:path': '/' }, metrics: { pageviews: 5, users: 4 } },
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
      expect(check).toEqual({ code: 0, stdout: '', stderr: '' })
    } finally {
      await close()
    }
  },
  1_200_000,
)

const BY_PATH = { date_range: 'all', metrics: ['pageviews', 'users'] }
const BY_PLAN = { date_range: 'all', metrics: ['events'] }
