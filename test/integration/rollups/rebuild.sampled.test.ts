/** Rollups of stores that have none, or those of another definition; rebuilds of all projects and of one. */
import { afterEach, beforeEach, describe, expect } from '@jest/globals'
import { NOTICE_MS, watchRollups } from '../../../src/bootstrap/rollup-trust.js'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { LeaseLostError, withLease } from '../../../src/clickhouse/lease/lease.js'
import { listGenerations } from '../../../src/clickhouse/lease/lease-store.js'
import { identifier, sql, statement, type Sql } from '../../../src/clickhouse/sql.js'
import { expireProjects } from '../../../src/deletion/expire-projects.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { updateProject } from '../../../src/projects/store.js'
import { createLogger } from '../../../src/lib/log.js'
import { LIVE } from '../../../src/model/rollup-table-sets.js'
import { hashLiveViews } from '../../../src/rollups/materialized-views.js'
import { readRollupState } from '../../../src/rollups/progress.js'
import { dropAllShadowTables } from '../../../src/rollups/shadow-tables.js'
import { longTest, shortTest } from '../../support/sampling.js'
import { until } from '../clickhouse/embedded/support.js'
import { breakAfter, BrokenError } from '../../support/store/breaking.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { readRollups } from '../../support/store/rollups.js'
import { newProject, runQuery, send, type SentEvent } from '../../support/world/world.js'
import {
  checkRollups,
  createContext,
  deleteUser,
  ensureRollups,
  rebuildRollups,
} from '../../support/store/loading.js'

const SILENT = createLogger('silent')

let database: TestDatabase
let shop: StoredProject
let other: StoredProject

const at = (time: string, fields: object): SentEvent => ({
  timestamp: `2026-${time}Z`,
  user_id: 'u',
  path: '/',
  ...fields,
})
/** A session across the end of a month, and visits on other days. */
const EVENTS = [
  at('01-15T10:00:00', { country: 'DE', user_id: 'v' }),
  at('01-31T23:50:00', { country: 'DE', city: 'Köln' }),
  at('02-01T00:10:00', { country: 'DE', name: 'signup', properties: { plan: 'pro' } }),
]
/** An earlier first event of that session, with another country. */
const LATE = at('01-31T23:40:00', { country: 'FR' })

beforeEach(async () => {
  database = await createDatabase()
  shop = await newProject(database.store)
  other = await newProject(database.store)
  const events = [shop, other].flatMap(({ id }) => EVENTS.map((one) => ({ ...one, project: id })))
  await send(database.store, { id: '' }, events)
})
afterEach(() => database.drop())

const write = (text: Sql): Promise<void> => database.store.admin.execute(statement(text))
const rollupsOf = (project: Pick<StoredProject, 'id'>) => readRollups(database.store, project.id)
const AGREEING = { months: 2, groups: expect.any(Number), different: 0, differences: [] }
const check = () => checkRollups(database.store.writer, {})

async function viewNames(): Promise<readonly string[]> {
  const rows = await select<{ name: string }>(
    database.store,
    sql`
SELECT name FROM system.tables
WHERE database = currentDatabase() AND engine = 'MaterializedView' ORDER BY name`,
  )
  return rows.map(({ name }) => name)
}

/** Adds wrong counts to the rollups, in each month and for both projects. */
const falsify = (): Promise<void> =>
  write(sql`
INSERT INTO sessions_monthly (project_id, dimension, value, month, pageviews, events, visits, bounces, duration)
SELECT id, 'country', 'DE', month, 7, 7, 7, 7, 7
FROM projects ARRAY JOIN [toDate('2026-01-01'), toDate('2026-02-01')] AS month`)

const listShadowTables = () =>
  select(
    database.store,
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'draft_')`,
  )

const builds = () => select(database.store, sql`SELECT count() AS builds FROM rollup_builds`)

describe('ensureRollups builds the rollups', () => {
  longTest('of a store that was filled before there were rollups', async () => {
    const [views, before] = [await viewNames(), await rollupsOf(shop)]
    for (const name of views) await write(sql`DROP VIEW ${identifier(name)} SYNC`)
    for (const table of [...Object.values(LIVE.rollups), sql`rollup_builds`]) {
      await write(sql`TRUNCATE TABLE ${table}`)
    }
    expect(await rollupsOf(shop)).toEqual([])

    await ensureRollups(database.store)
    expect(await rollupsOf(shop)).toEqual(before)
    expect(await viewNames()).toEqual(views)
    await send(database.store, shop, [LATE])
    expect(await check()).toEqual(AGREEING)
    expect(await builds()).toEqual([{ builds: 1 }])
  })

  longTest('of a store with rollups of another definition', async () => {
    const [views, before] = [await viewNames(), await rollupsOf(shop)]
    await write(sql`INSERT INTO rollup_builds (definition) SELECT 'another'`)
    await write(sql`DROP VIEW feed_visits SYNC`)
    await write(sql`
CREATE MATERIALIZED VIEW feed_former TO sessions_daily AS
SELECT project_id, 'former' AS dimension, path AS value, toDate(timestamp) AS day FROM event_changes`)
    await falsify()

    await ensureRollups(database.store)
    expect(await viewNames()).toEqual(views)
    expect(await rollupsOf(shop)).toEqual(before)
    await send(database.store, shop, [LATE])
    expect(await check()).toEqual(AGREEING)
    expect(await builds()).toEqual([{ builds: 3 }])
  })

  shortTest('once; a second call has nothing to do', async () => {
    await falsify()
    const before = await rollupsOf(shop)
    await ensureRollups(database.store)
    expect(await rollupsOf(shop)).toEqual(before)
    expect(await builds()).toEqual([{ builds: 1 }])
  })

  longTest('in one of two processes that start at once, while the other waits', async () => {
    const before = await rollupsOf(shop)
    await write(sql`TRUNCATE TABLE rollup_builds`)
    await falsify()
    await Promise.all([ensureRollups(database.store), ensureRollups(database.store)])
    expect(await builds()).toEqual([{ builds: 1 }])
    expect(await rollupsOf(shop)).toEqual(before)
  })

  longTest('from the beginning after an interruption', async () => {
    const [views, before] = [await viewNames(), await rollupsOf(shop)]
    await write(sql`TRUNCATE TABLE rollup_builds`)
    await write(sql`CREATE TABLE draft_sessions_daily AS sessions_daily`)
    const writer = breakAfter(database.store.writer, /SELECT month, sum/)
    const broken = ensureRollups({ ...database.store, writer })
    await expect(broken).rejects.toBeInstanceOf(BrokenError)
    expect(await builds()).toEqual([{ builds: 0 }])

    await ensureRollups(database.store)
    expect(await viewNames()).toEqual(views)
    expect(await rollupsOf(shop)).toEqual(before)
  })

  longTest('from the first month that is missing, if it was interrupted later', async () => {
    await write(sql`TRUNCATE TABLE rollup_builds`)
    const before = [await rollupsOf(shop), await rollupsOf(other)]
    const writer = breakAfter(database.store.writer, /INSERT INTO rollup_progress/)
    const broken = ensureRollups({ ...database.store, writer })
    await expect(broken).rejects.toBeInstanceOf(BrokenError)
    expect(await readRollupState(database.store.reader)).toBe('other')

    await send(database.store, shop, [LATE])
    const months: number[] = []
    await ensureRollups(database.store, { onMonth: (month) => months.push(month) })
    expect(months).toEqual([202602])
    expect(await readRollupState(database.store.reader)).toBe('current')
    expect(await check()).toEqual(AGREEING)
    expect(await rollupsOf(other)).toEqual(before[1])
  })

  shortTest('whatever views of others there are', async () => {
    const before = await hashLiveViews(database.store.admin)
    await write(sql`CREATE TABLE theirs (user UInt32) ENGINE = Null`)
    await write(sql`CREATE MATERIALIZED VIEW feed_theirs TO theirs AS SELECT user FROM events`)
    expect(await hashLiveViews(database.store.admin)).toBe(before)
  })

  shortTest('unless a newer version has begun to: its rollups are not undone', async () => {
    const [views, hash] = [await viewNames(), await hashLiveViews(database.store.admin)]
    await write(sql`INSERT INTO rollup_progress (version, definition, step) VALUES (2, 'newer', 1)`)
    expect(await readRollupState(database.store.reader)).toBe('newer')
    await expect(ensureRollups(database.store)).rejects.toThrow(
      'a newer version has built the rollups of this database: run that version or a later one',
    )
    await write(sql`INSERT INTO rollup_builds (definition) SELECT 'newer'`)
    expect(await readRollupState(database.store.reader)).toBe('newer')
    // A version before the record was kept has rebuilt them since.
    await write(sql`INSERT INTO rollup_builds (definition) SELECT 'older'`)
    expect(await readRollupState(database.store.reader)).toBe('other')
    expect([await viewNames(), await hashLiveViews(database.store.admin)]).toEqual([views, hash])
  })
})

longTest(
  'a running service stops reading rollups that another version rebuilds, and reads them again',
  async () => {
    const trust = await watchRollups(database.store.reader, SILENT)
    const seen = [trust.isTrusted()]
    await write(sql`INSERT INTO rollup_progress (version, definition, step) VALUES (2, 'newer', 1)`)
    await until(() => !trust.isTrusted(), NOTICE_MS)
    await write(sql`TRUNCATE TABLE rollup_progress`)
    await until(() => trust.isTrusted(), NOTICE_MS)
    seen.push(trust.isTrusted())
    trust.stop()
    expect(seen).toEqual([true, true])
  },
)

/** Lets another process take the loader lease, as if it had expired, and load a late event. */
async function loseLease(): Promise<void> {
  const [newest] = await listGenerations(database.store.writer, 'loader')
  const table = identifier(`lease_loader_${newest!.number}`)
  await write(sql`INSERT INTO ${table} (state, at) SELECT 'released', now64(3)`)
  await send(database.store, shop, [LATE])
}

/** Deletes the first day of the shop, as it is older than the shop keeps. */
async function expireOldDays(): Promise<void> {
  await updateProject(database.store, shop.id, { keepDays: 20 })
  const task = { store: database.store, context: createContext(), logger: SILENT }
  await expireProjects(task, new Date('2026-02-11T12:00:00Z'))
}

async function countDays(): Promise<number> {
  const [row] = await select<{ days: number }>(
    database.store,
    sql`SELECT uniqExact(project_id, toDate(timestamp)) AS days FROM events`,
  )
  return row!.days
}

describe('a rebuild', () => {
  shortTest('of all projects corrects the rollups, and reports each month', async () => {
    const before = [await rollupsOf(shop), await rollupsOf(other)]
    await falsify()
    const months: number[] = []
    await rebuildRollups(database.store.writer, { onMonth: (month) => months.push(month) })
    expect([await rollupsOf(shop), await rollupsOf(other)]).toEqual(before)
    expect(months).toEqual([202601, 202602])
  })

  longTest('of one project does not change the others', async () => {
    const before = await rollupsOf(shop)
    await falsify()
    const others = await rollupsOf(other)
    await rebuildRollups(database.store.writer, { projectId: shop.id })
    expect([await rollupsOf(shop), await rollupsOf(other)]).toEqual([before, others])
    const { different, differences } = await check()
    expect({ different, projects: differences.map(({ projectId }) => projectId) }).toEqual({
      different: 2,
      projects: [other.id, other.id],
    })
  })

  longTest('deletes the counts of a month without events', async () => {
    const before = await rollupsOf(shop)
    await write(sql`
INSERT INTO events_daily (project_id, dimension, value, day, pageviews, events)
VALUES ('nobody', 'event:name', 'x', '2025-12-01', 1, 1)`)
    await rebuildRollups(database.store.writer, {})
    expect(await rollupsOf({ id: 'nobody' })).toEqual([])
    expect(await rollupsOf(shop)).toEqual(before)
  })

  longTest('handles a month whose only user was deleted', async () => {
    await send(database.store, shop, [at('03-01T00:00:00', { user_id: 'gone' })])
    await deleteUser(database.store, shop.id, 'gone')
    const before = await rollupsOf(shop)
    await rebuildRollups(database.store.writer, {})
    expect(await rollupsOf(shop)).toEqual(before)
  })

  longTest.each([
    ['the recording has ended', /^DROP TABLE \{p0:Identifier\} SYNC/],
    ['a shadow table is complete', /draft_\d+_sessions_monthly ATTACH PARTITION/],
    ['the last shadow table is complete', /draft_\d+_users_monthly ATTACH PARTITION/],
  ])('suspended just after %s, it notices that another process has loaded', async (_when, last) => {
    const { writer } = database.store
    let sleeping: Promise<void> | undefined
    const sleepy: Connection = {
      ...writer,
      execute: async (one, settings) => {
        // The heartbeat is suspended, too, so it does not notice.
        if (one.query.includes('(state, at)')) await sleeping
        await writer.execute(one, settings)
        if (last.test(one.query)) await (sleeping ??= loseLease())
      },
    }
    await rebuildRollups(sleepy, {}).catch(() => undefined)
    expect(sleeping).toBeDefined()
    expect(await check()).toEqual(AGREEING)
  })

  longTest.each([
    ['the facts are copied', /ATTACH PARTITION .* FROM sessions/],
    [
      'a shadow table is filled',
      /^\s*INSERT INTO \{\S+\s+SELECT \* FROM draft_\d+_snapshot_sessions/,
    ],
    ['the recording ends', /^DROP TABLE \{p0:Identifier\} SYNC/],
    ['it copies what stays', /ATTACH PARTITION .* FROM sessions_monthly/],
    ['the first partition is replaced', /REPLACE PARTITION .* FROM draft_\d+_sessions_daily/],
    ['the last partition is replaced', /users_monthly REPLACE PARTITION/],
    ['its tables are dropped', /^DROP TABLE IF EXISTS \{p0:Identifier\}, \{p1/],
  ])('suspended just before %s, it undoes no load of another process', async (_when, last) => {
    const { writer } = database.store
    let sleeping: Promise<void> | undefined
    const sleepy: Connection = {
      ...writer,
      execute: async (one, settings) => {
        if (one.query.includes('(state, at)')) await sleeping
        if (last.test(one.query)) await (sleeping ??= loseLease())
        await writer.execute(one, settings)
      },
    }
    await rebuildRollups(sleepy, {}).catch(() => undefined)
    expect(sleeping).toBeDefined()
    expect(await check()).toEqual(AGREEING)
  })

  longTest('suspended during a check, it reports no load of another process', async () => {
    const last = /draft_\d+_stored_users_monthly ATTACH PARTITION/
    const writer = meanwhile(last, loseLease)
    const checked = checkRollups(writer, {}).catch((error: unknown) => error)
    expect([AGREEING, expect.any(LeaseLostError)]).toContainEqual(await checked)
    expect(await check()).toEqual(AGREEING)
  })

  /** Runs `work` once, before the first statement that matches. */
  const meanwhile = (pattern: RegExp, work: () => Promise<unknown>): Connection => {
    const { writer } = database.store
    let done: Promise<unknown> | undefined
    return {
      ...writer,
      execute: async (one, settings) => {
        if (pattern.test(one.query)) await (done ??= work())
        await writer.execute(one, settings)
      },
    }
  }
  /** The statement that computes most of the shadow tables. */
  const COMPUTE = /INSERT INTO \S+ \(session, sign, [^)]*\)\s+SELECT session, 1/

  shortTest('lets events be loaded while it computes, and counts each once', async () => {
    await falsify()
    const more = [
      LATE,
      at('01-15T10:10:00', { user_id: 'v' }),
      at('02-03T00:00:00', { user_id: 'x' }),
    ]
    let seconds = Infinity
    const writer = meanwhile(COMPUTE, async () => {
      const begun = performance.now()
      await send(database.store, shop, more)
      seconds = (performance.now() - begun) / 1_000
    })
    await rebuildRollups(writer, {})
    // It does not wait for the rebuild, which waits for it here.
    expect(seconds).toBeLessThan(10)
    expect(await check()).toEqual(AGREEING)
    expect(await listShadowTables()).toEqual([])
  })

  longTest('leaves every answer as it is, at each of its statements', async () => {
    const ask = async () => {
      const { data } = await runQuery(database.store, shop, {
        date_range: ['2026-01-01', '2026-02-28'],
        metrics: ['users', 'pageviews', 'events', 'bounce_rate'],
        group_by: ['country'],
      })
      return data
    }
    const before = await ask()
    expect(before.length).toBeGreaterThan(0)
    const { writer } = database.store
    let asked = 0
    const watched: Connection = {
      ...writer,
      execute: async (one, settings) => {
        await writer.execute(one, settings)
        if (one.query.includes('(state, at)')) return
        asked += 1
        expect(await ask()).toEqual(before)
      },
    }
    await rebuildRollups(watched, {})
    expect(asked).toBeGreaterThan(100)
  })

  longTest.each([
    ['a user was deleted', () => deleteUser(database.store, shop.id, 'v')],
    ['a day has expired', expireOldDays],
  ])('computes a month again when %s meanwhile', async (_what, work) => {
    await falsify()
    const days = await countDays()
    await rebuildRollups(meanwhile(COMPUTE, work), {})
    expect(await countDays()).toBe(days - 1)
    expect(await check()).toEqual(AGREEING)
    expect(await listShadowTables()).toEqual([])
  })

  longTest('computes a month again when a suspended loader repeats inserts meanwhile', async () => {
    const { writer } = database.store
    const repeats: (() => Promise<void>)[] = []
    const loader: Connection = {
      ...writer,
      execute: async (one, settings) => {
        // It keeps the tables of the load.
        if (repeats.length > 0 && one.query.startsWith('DROP TABLE IF EXISTS')) return
        await writer.execute(one, settings)
        const isChange = /^\s*INSERT INTO (event_changes|sessions) /.test(one.query)
        if (isChange) repeats.push(() => writer.execute(one, settings))
      },
    }
    await send({ ...database.store, writer: loader }, shop, [LATE])
    expect(repeats).toHaveLength(2)
    const repeatAll = async () => {
      for (const repeat of repeats) await repeat()
    }
    await repeatAll()
    expect(await check()).toEqual(AGREEING)
    let computed = 0
    const disturbed: Connection = {
      ...writer,
      execute: async (one, settings) => {
        if (COMPUTE.test(one.query) && ++computed === 1) await repeatAll()
        await writer.execute(one, settings)
      },
    }
    await rebuildRollups(disturbed, {})
    // January twice.
    expect(computed).toBe(3)
    expect(await check()).toEqual(AGREEING)
  })

  longTest.each([['events'], ['events', 'sessions']])(
    'whose views of %s %s write into tables that are gone stops no load',
    async (...kinds) => {
      await withLease(database.store.writer, 'rollups', async () => {
        for (const kind of kinds) {
          const [view, target] = [`draft_7_feed_new_${kind}`, `draft_7_new_${kind}`].map((name) =>
            identifier(name),
          )
          const source = kind === 'events' ? LIVE.eventChanges : LIVE.sessions
          await write(sql`CREATE TABLE ${target!} AS ${source} ENGINE = Null`)
          await write(
            sql`CREATE MATERIALIZED VIEW ${view!} TO ${target!} AS SELECT * FROM ${source}`,
          )
          await write(sql`DROP TABLE ${target!} SYNC`)
        }
        await send(database.store, shop, [LATE])
      })
      expect(await check()).toEqual(AGREEING)
      expect(await listShadowTables()).toEqual([])
    },
  )

  longTest(
    'computes a month while loads wait when its tables are dropped again and again',
    async () => {
      await falsify()
      const { writer } = database.store
      let times = 0
      const disturbed: Connection = {
        ...writer,
        execute: async (one, settings) => {
          // As an older version does before each load.
          if (COMPUTE.test(one.query) && ++times <= 3) await dropAllShadowTables(writer)
          await writer.execute(one, settings)
        },
      }
      await rebuildRollups(disturbed, {})
      expect(times).toBe(5)
      expect(await check()).toEqual(AGREEING)
    },
  )

  /** Lets the leases of a killed process expire at once. */
  async function expireLeases(): Promise<void> {
    for (const name of ['loader', 'rollups'] as const) {
      const [newest] = await listGenerations(database.store.writer, name)
      const table = identifier(`lease_${name}_${newest!.number}`)
      await write(sql`INSERT INTO ${table} (state, at) SELECT 'released', now64(3)`)
    }
  }

  longTest('that was killed leaves nothing after the next load', async () => {
    const broken = rebuildRollups(breakAfter(database.store.writer, COMPUTE), {})
    await expect(broken).rejects.toBeInstanceOf(BrokenError)
    expect((await listShadowTables()).length).toBeGreaterThan(10)
    await expireLeases()
    await send(database.store, shop, [LATE])
    expect(await listShadowTables()).toEqual([])
    expect(await check()).toEqual(AGREEING)
  })

  longTest('that was killed lets loads go on while its last statement runs', async () => {
    const { writer } = database.store
    let isRunning = true
    let ended: Promise<void> | undefined
    const killed: Connection = {
      ...writer,
      execute: async (one, settings) => {
        if (ended !== undefined) throw new BrokenError()
        if (!COMPUTE.test(one.query)) return writer.execute(one, settings)
        const target = /draft_\d+_/.exec(one.query)![0] + 'event_changes'
        const slow = sql`INSERT INTO ${identifier(target)} (project_id) SELECT '' FROM system.numbers WHERE sleepEachRow(1) = 0 LIMIT 25`
        ended = writer.execute(statement(slow), { max_block_size: '1' }).finally(() => {
          isRunning = false
        })
        throw new BrokenError()
      },
    }
    await expect(rebuildRollups(killed, {})).rejects.toBeInstanceOf(BrokenError)
    await expireLeases()
    await send(database.store, shop, [LATE])
    expect(isRunning).toBe(true)
    await ended!.catch(() => undefined)
    expect(await listShadowTables()).toEqual([])
    expect(await check()).toEqual(AGREEING)
  })

  longTest.each([
    ['the recording begins', /^CREATE MATERIALIZED VIEW .* TO draft_\d+_new_sessions/],
    ['the events are copied', /ATTACH PARTITION .* FROM events/],
    ['a shadow table is filled', COMPUTE],
    ['the recording ends', /^DROP TABLE \{p0:Identifier\} SYNC/],
    ['other rows are masked', /^DELETE FROM draft_\d+_other_rows/],
    ['the first partition is replaced', /REPLACE PARTITION .* FROM draft_\d+_sessions_daily/],
    ['the last partition is replaced', /users_monthly REPLACE PARTITION/],
    ['the last parts are merged', /^OPTIMIZE TABLE users_monthly PARTITION/],
  ])('killed after %s, loads go on, and the next rebuild corrects all', async (_when, last) => {
    await falsify()
    const broken = rebuildRollups(breakAfter(database.store.writer, last), {})
    await expect(broken).rejects.toBeInstanceOf(BrokenError)
    await expireLeases()
    await send(database.store, shop, [LATE])
    await rebuildRollups(database.store.writer, {})
    expect(await check()).toEqual(AGREEING)
    expect(await listShadowTables()).toEqual([])
  })

  longTest('lets events be loaded between two months, and each counts once', async () => {
    const sent: Promise<unknown>[] = []
    await rebuildRollups(database.store.writer, {
      onMonth: () =>
        sent.push(send(database.store, shop, [{ ...LATE, user_id: `w${sent.length}` }])),
    })
    await Promise.all(sent)
    expect(sent.length).toBe(2)
    expect(await check()).toEqual(AGREEING)
  })
})
