/** Rebuilds of the rollups of all projects and of one, also while events are loaded and deleted. */
import { describe, expect, test } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { identifier, sql } from '../../../src/clickhouse/sql.js'
import { expireProjects } from '../../../src/deletion/expire-projects.js'
import { createLogger } from '../../../src/lib/log.js'
import { LIVE } from '../../../src/model/rollup-table-sets.js'
import { updateProject } from '../../../src/projects/store.js'
import { dropAllShadowTables } from '../../../src/rollups/shadow-tables.js'
import { thoroughTest } from '../../support/effort.js'
import { agreeOn } from '../../support/store/clocks.js'
import { select } from '../../support/store/facts.js'
import { createContext, deleteUser, rebuildRollups } from '../../support/store/loading.js'
import { runQuery, send } from '../../support/world/world.js'
import { AGREEING, at, COMPUTE, LATE, useTwoProjects } from './two-projects.js'

const SILENT = createLogger('silent')

const world = useTwoProjects()
const { write, rollupsOf, check, falsify, listShadowTables, meanwhile } = world

/** Deletes the first day of the shop, as it is older than the shop keeps. */
async function expireOldDays(): Promise<void> {
  await updateProject(world.store, world.shop.id, { keepDays: 10 })
  const task = { store: world.store, context: createContext(), logger: SILENT }
  const clocks = agreeOn(new Date('2026-02-01T12:00:00Z'))
  // The first call only records that there is something to delete.
  await expireProjects(task, clocks)
  await expireProjects(task, clocks)
}

async function countDays(): Promise<number> {
  const [row] = await select<{ days: number }>(
    world.store,
    sql`SELECT uniqExact(project_id, toDate(timestamp)) AS days FROM events`,
  )
  return row!.days
}

describe('a rebuild', () => {
  test('of all projects corrects the rollups, and reports each month', async () => {
    const before = [await rollupsOf(world.shop), await rollupsOf(world.other)]
    await falsify()
    const months: number[] = []
    await rebuildRollups(world.store.writer, { onMonth: (month) => months.push(month) })
    expect([await rollupsOf(world.shop), await rollupsOf(world.other)]).toEqual(before)
    expect(months).toEqual([202601, 202602])
  })

  thoroughTest('of one project does not change the others', async () => {
    const before = await rollupsOf(world.shop)
    await falsify()
    const others = await rollupsOf(world.other)
    await rebuildRollups(world.store.writer, { projectId: world.shop.id })
    expect([await rollupsOf(world.shop), await rollupsOf(world.other)]).toEqual([before, others])
    const { different, differences } = await check()
    expect({ different, projects: differences.map(({ projectId }) => projectId) }).toEqual({
      different: 2,
      projects: [world.other.id, world.other.id],
    })
  })

  thoroughTest('deletes the counts of a month without events', async () => {
    const before = await rollupsOf(world.shop)
    await write(sql`
INSERT INTO events_daily (project_id, dimension, value, day, pageviews, events)
VALUES ('nobody', 'event:name', 'x', '2025-12-01', 1, 1)`)
    await rebuildRollups(world.store.writer, {})
    expect(await rollupsOf({ id: 'nobody' })).toEqual([])
    expect(await rollupsOf(world.shop)).toEqual(before)
  })

  thoroughTest('handles a month whose only user was deleted', async () => {
    await send(world.store, world.shop, [at('03-01T00:00:00', { user_id: 'gone' })])
    await deleteUser(world.store, world.shop.id, 'gone')
    const before = await rollupsOf(world.shop)
    await rebuildRollups(world.store.writer, {})
    expect(await rollupsOf(world.shop)).toEqual(before)
  })

  test('lets events be loaded while it computes, and counts each once', async () => {
    await falsify()
    const more = [
      LATE,
      at('01-15T10:10:00', { user_id: 'v' }),
      at('02-03T00:00:00', { user_id: 'x' }),
    ]
    // The load does not wait for the rebuild, which waits for it here.
    const writer = meanwhile(COMPUTE, () => send(world.store, world.shop, more))
    await rebuildRollups(writer, {})
    expect(await check()).toEqual(AGREEING)
    expect(await listShadowTables()).toEqual([])
  })

  thoroughTest('leaves every answer as it is, at each of its statements', async () => {
    const ask = async () => {
      const { data } = await runQuery(world.store, world.shop, {
        date_range: ['2026-01-01', '2026-02-28'],
        metrics: ['users', 'pageviews', 'events', 'bounce_rate'],
        group_by: ['country'],
      })
      return data
    }
    const before = await ask()
    expect(before.length).toBeGreaterThan(0)
    const { writer } = world.store
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

  thoroughTest.each([
    ['a user was deleted', () => deleteUser(world.store, world.shop.id, 'v')],
    ['a day has expired', expireOldDays],
  ])('computes a month again when %s meanwhile', async (_what, work) => {
    await falsify()
    const days = await countDays()
    await rebuildRollups(meanwhile(COMPUTE, work), {})
    expect(await countDays()).toBe(days - 1)
    expect(await check()).toEqual(AGREEING)
    expect(await listShadowTables()).toEqual([])
  })

  thoroughTest(
    'computes a month again when a suspended loader repeats inserts meanwhile',
    async () => {
      const { writer } = world.store
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
      await send({ ...world.store, writer: loader }, world.shop, [LATE])
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
    },
  )

  thoroughTest.each([['events'], ['events', 'sessions']])(
    'whose views of %s %s write into tables that are gone stops no load',
    async (...kinds) => {
      await withLease(world.store.writer, 'rollups', async () => {
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
        await send(world.store, world.shop, [LATE])
      })
      expect(await check()).toEqual(AGREEING)
      expect(await listShadowTables()).toEqual([])
    },
  )

  thoroughTest(
    'computes a month while loads wait when its tables are dropped again and again',
    async () => {
      await falsify()
      const { writer } = world.store
      let times = 0
      const disturbed: Connection = {
        ...writer,
        execute: async (one, settings) => {
          // As the next holder of the loader lease does.
          if (COMPUTE.test(one.query) && ++times <= 3) await dropAllShadowTables(writer)
          await writer.execute(one, settings)
        },
      }
      await rebuildRollups(disturbed, {})
      expect(times).toBe(5)
      expect(await check()).toEqual(AGREEING)
    },
  )

  thoroughTest('lets events be loaded between two months, and each counts once', async () => {
    const sent: Promise<unknown>[] = []
    await rebuildRollups(world.store.writer, {
      onMonth: () =>
        sent.push(send(world.store, world.shop, [{ ...LATE, user_id: `w${sent.length}` }])),
    })
    await Promise.all(sent)
    expect(sent.length).toBe(2)
    expect(await check()).toEqual(AGREEING)
  })
})
