/** Rebuilds of processes that are killed: loads go on, and the next rebuild corrects all. */
import { describe, expect, test } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { identifier, sql, statement } from '../../../src/clickhouse/sql.js'
import { breakAfter, BrokenError } from '../../support/store/breaking.js'
import { rebuildRollups } from '../../support/store/loading.js'
import { send } from '../../support/world/world.js'
import { AGREEING, COMPUTE, LATE, useTwoProjects } from './two-projects.js'

const world = useTwoProjects()
const { check, expireLeases, falsify, listShadowTables } = world

describe('a rebuild', () => {
  test('that was killed leaves nothing after the next load', async () => {
    const broken = rebuildRollups(breakAfter(world.store.writer, COMPUTE), {})
    await expect(broken).rejects.toBeInstanceOf(BrokenError)
    expect((await listShadowTables()).length).toBeGreaterThan(10)
    await expireLeases('loader', 'rollups')
    await send(world.store, world.shop, [LATE])
    expect(await listShadowTables()).toEqual([])
    expect(await check()).toEqual(AGREEING)
  })

  test('that was killed lets loads go on while its last statement runs', async () => {
    const { writer } = world.store
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
    await expireLeases('loader', 'rollups')
    await send(world.store, world.shop, [LATE])
    expect(isRunning).toBe(true)
    await ended!.catch(() => undefined)
    expect(await listShadowTables()).toEqual([])
    expect(await check()).toEqual(AGREEING)
  })

  test.each([
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
    const broken = rebuildRollups(breakAfter(world.store.writer, last), {})
    await expect(broken).rejects.toBeInstanceOf(BrokenError)
    await expireLeases('loader', 'rollups')
    await send(world.store, world.shop, [LATE])
    await rebuildRollups(world.store.writer, {})
    expect(await check()).toEqual(AGREEING)
    expect(await listShadowTables()).toEqual([])
  })
})
