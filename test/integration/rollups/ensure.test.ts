/** Rollups of stores that have none, or those of another definition. */
import { describe, expect, jest, test } from '@jest/globals'
import { watchRollups } from '../../../src/bootstrap/serving/rollup-trust.js'
import { identifier, sql, string, uint32 } from '../../../src/clickhouse/sql.js'
import { createLogger } from '../../../src/lib/log.js'
import { LIVE } from '../../../src/model/rollup-table-sets.js'
import { hashLiveViews } from '../../../src/rollups/materialized-views.js'
import { abandonRollups, readRollupState, STATE_NOTICE_MS } from '../../../src/rollups/progress.js'
import { DEFINITION_VERSION } from '../../../src/rollups/view-definitions.js'
import { thoroughTest } from '../../support/effort.js'
import { breakAfter, BrokenError } from '../../support/store/breaking.js'
import { select } from '../../support/store/facts.js'
import { ensureRollups, rebuildRollups } from '../../support/store/loading.js'
import { send } from '../../support/world/world.js'
import { until } from '../../support/until.js'
import { AGREEING, LATE, useTwoProjects } from './two-projects.js'

const SILENT = createLogger('silent')

const world = useTwoProjects()
const { write, rollupsOf, check, falsify } = world

async function viewNames(): Promise<readonly string[]> {
  const rows = await select<{ name: string }>(
    world.store,
    sql`
SELECT name FROM system.tables
WHERE database = currentDatabase() AND engine = 'MaterializedView' ORDER BY name`,
  )
  return rows.map(({ name }) => name)
}

const builds = () => select(world.store, sql`SELECT count() AS builds FROM rollup_builds`)

/** What a build of a later definition writes first. */
const beginNewer = sql`
INSERT INTO rollup_progress (version, definition, step) SELECT ${uint32(DEFINITION_VERSION + 1)}, 'newer', 1`

describe('ensureRollups builds the rollups', () => {
  thoroughTest('of a store that was filled before there were rollups', async () => {
    const [views, before] = [await viewNames(), await rollupsOf(world.shop)]
    for (const name of views) await write(sql`DROP VIEW ${identifier(name)} SYNC`)
    for (const table of [...Object.values(LIVE.rollups), sql`rollup_builds`]) {
      await write(sql`TRUNCATE TABLE ${table}`)
    }
    expect(await rollupsOf(world.shop)).toEqual([])

    await ensureRollups(world.store)
    expect(await rollupsOf(world.shop)).toEqual(before)
    expect(await viewNames()).toEqual(views)
    await send(world.store, world.shop, [LATE])
    expect(await check()).toEqual(AGREEING)
    expect(await builds()).toEqual([{ builds: 1 }])
  })

  thoroughTest('of a store with rollups of another definition', async () => {
    const [views, before] = [await viewNames(), await rollupsOf(world.shop)]
    await write(sql`INSERT INTO rollup_builds (definition) SELECT 'another'`)
    await write(sql`DROP VIEW feed_visits SYNC`)
    await write(sql`
CREATE MATERIALIZED VIEW feed_former TO sessions_daily AS
SELECT project_id, 'former' AS dimension, path AS value, toDate(timestamp) AS day FROM event_changes`)
    await falsify()

    await ensureRollups(world.store)
    expect(await viewNames()).toEqual(views)
    expect(await rollupsOf(world.shop)).toEqual(before)
    await send(world.store, world.shop, [LATE])
    expect(await check()).toEqual(AGREEING)
    expect(await builds()).toEqual([{ builds: 3 }])
  })

  test('once; a second call has nothing to do', async () => {
    await falsify()
    const before = await rollupsOf(world.shop)
    await ensureRollups(world.store)
    expect(await rollupsOf(world.shop)).toEqual(before)
    expect(await builds()).toEqual([{ builds: 1 }])
  })

  thoroughTest('in one of two processes that start at once, while the other waits', async () => {
    const before = await rollupsOf(world.shop)
    await write(sql`TRUNCATE TABLE rollup_builds`)
    await falsify()
    await Promise.all([ensureRollups(world.store), ensureRollups(world.store)])
    expect(await builds()).toEqual([{ builds: 1 }])
    expect(await rollupsOf(world.shop)).toEqual(before)
  })

  thoroughTest('from the beginning after an interruption', async () => {
    const [views, before] = [await viewNames(), await rollupsOf(world.shop)]
    await write(sql`TRUNCATE TABLE rollup_builds`)
    await write(sql`CREATE TABLE draft_1_sessions_daily AS sessions_daily`)
    const writer = breakAfter(world.store.writer, /SELECT month, sum/)
    const broken = ensureRollups({ ...world.store, writer })
    await expect(broken).rejects.toBeInstanceOf(BrokenError)
    expect(await builds()).toEqual([{ builds: 0 }])

    await ensureRollups(world.store)
    expect(await viewNames()).toEqual(views)
    expect(await rollupsOf(world.shop)).toEqual(before)
  })

  thoroughTest('from the first month that is missing, if it was interrupted later', async () => {
    await write(sql`TRUNCATE TABLE rollup_builds`)
    const before = [await rollupsOf(world.shop), await rollupsOf(world.other)]
    const writer = breakAfter(world.store.writer, /INSERT INTO rollup_progress/)
    const broken = ensureRollups({ ...world.store, writer })
    await expect(broken).rejects.toBeInstanceOf(BrokenError)
    expect(await readRollupState(world.store.reader)).toBe('building')

    await send(world.store, world.shop, [LATE])
    const months: number[] = []
    await ensureRollups(world.store, { onMonth: (month) => months.push(month) })
    expect(months).toEqual([202602])
    expect(await readRollupState(world.store.reader)).toBe('current')
    expect(await check()).toEqual(AGREEING)
    expect(await rollupsOf(world.other)).toEqual(before[1])
  })

  test('again, if they are abandoned while they are built', async () => {
    await write(sql`TRUNCATE TABLE rollup_builds`)
    const months: number[] = []
    const onMonth = async (month: number): Promise<void> => {
      months.push(month)
      if (months.length > 1) return
      await falsify()
      await abandonRollups(world.store.writer, 0)
    }
    await ensureRollups(world.store, { onMonth })
    expect(await check()).toEqual(AGREEING)
    expect(months).toEqual([202601, 202602, 202601, 202602])
    expect([await readRollupState(world.store.reader), await builds()]).toEqual([
      'current',
      [{ builds: 1 }],
    ])
  })

  test('again, if they are abandoned before a month is recorded', async () => {
    await write(sql`TRUNCATE TABLE rollup_builds`)
    const writer = world.meanwhile(/INSERT INTO rollup_progress[^]*rollup_progress/, async () => {
      await falsify()
      await abandonRollups(world.store.writer, 0)
    })
    await ensureRollups({ ...world.store, writer })
    expect(await check()).toEqual(AGREEING)
  })

  test('whatever months are recorded for these views without a build', async () => {
    const views = await hashLiveViews(world.store.admin)
    await write(sql`
INSERT INTO rollup_progress (version, definition, step, views, month)
SELECT version, definition, 3, ${string(views)}, 202601 FROM rollup_progress LIMIT 1`)
    await falsify()
    await abandonRollups(world.store.writer, 0)
    await ensureRollups(world.store)
    expect(await check()).toEqual(AGREEING)
  })

  test('again, if another process drops a view meanwhile', async () => {
    const views = await viewNames()
    await write(sql`TRUNCATE TABLE rollup_builds`)
    const months: number[] = []
    const onMonth = async (month: number): Promise<void> => {
      months.push(month)
      if (months.length === 1) await write(sql`DROP VIEW feed_visits SYNC`)
    }
    await ensureRollups(world.store, { onMonth })
    expect([await viewNames(), months]).toEqual([views, [202601, 202602, 202601, 202602]])
  })

  test('again, if they are abandoned although a clock was an hour ahead when they were built', async () => {
    const views = await hashLiveViews(world.store.admin)
    await write(
      sql`INSERT INTO rollup_builds (definition, built_at) SELECT definition, now64(3) + 3600 FROM rollup_builds`,
    )
    await falsify()
    expect(await readRollupState(world.store.reader)).toBe('current')
    await abandonRollups(world.store.writer, 0)
    expect(await readRollupState(world.store.reader)).toBe('building')
    await ensureRollups(world.store)
    expect(await readRollupState(world.store.reader)).toBe('current')
    expect(await check()).toEqual(AGREEING)
    // Another replica has views of its own: while they differ it cannot take over.
    expect(await hashLiveViews(world.store.admin)).toBe(views)
  })

  test('whatever views of others there are', async () => {
    const before = await hashLiveViews(world.store.admin)
    await write(sql`CREATE TABLE theirs (user UInt32) ENGINE = Null`)
    await write(sql`CREATE MATERIALIZED VIEW feed_theirs TO theirs AS SELECT user FROM events`)
    expect(await hashLiveViews(world.store.admin)).toBe(before)
  })

  test('unless a newer version has begun to: its rollups are not undone', async () => {
    const [views, hash] = [await viewNames(), await hashLiveViews(world.store.admin)]
    await write(beginNewer)
    expect(await readRollupState(world.store.reader)).toBe('newer')
    await expect(ensureRollups(world.store)).rejects.toThrow(
      'a newer version has built the rollups of this database: run that version or a later one',
    )
    await write(sql`INSERT INTO rollup_builds (definition) SELECT 'newer'`)
    expect(await readRollupState(world.store.reader)).toBe('newer')
    expect([await viewNames(), await hashLiveViews(world.store.admin)]).toEqual([views, hash])
    await expect(rebuildRollups(world.store.writer, {})).rejects.toThrow(
      'another version of Tallyhouse has built the rollups, or builds them: use that one',
    )
  })
})

thoroughTest(
  'a running service stops reading rollups that another version rebuilds, and reads them again',
  async () => {
    const trust = await watchRollups(world.store.reader, SILENT)
    const seen = [trust.isTrusted()]
    await write(beginNewer)
    await until(() => !trust.isTrusted())
    await write(sql`TRUNCATE TABLE rollup_progress`)
    await until(() => trust.isTrusted())
    seen.push(trust.isTrusted())
    trust.stop()
    expect(seen).toEqual([true, true])
  },
)

test('a service that cannot read the state trusts the rollups no longer than one who abandons them waits', async () => {
  const trust = await watchRollups(world.store.reader, SILENT)
  const begun = performance.now()
  const now = jest.spyOn(performance, 'now')
  const isTrustedAfter = (ms: number): boolean => {
    now.mockReturnValue(begun + ms)
    return trust.isTrusted()
  }
  const trusted = [isTrustedAfter(STATE_NOTICE_MS / 2), isTrustedAfter(STATE_NOTICE_MS)]
  now.mockRestore()
  trust.stop()
  expect(trusted).toEqual([true, false])
})
