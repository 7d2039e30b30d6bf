/** Rebuilds and checks of processes that are suspended while another one loads. */
import { describe, expect, test } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { LeaseLostError } from '../../../src/clickhouse/lease/lease.js'
import { checkRollups, rebuildRollups } from '../../support/store/loading.js'
import { AGREEING, useTwoProjects } from './two-projects.js'

const world = useTwoProjects()
const { check, loseLease, meanwhile } = world

/**
 * Rebuilds, and is suspended before or after the first statement that matches: another process then loads. The heartbeat is
 * suspended, too, so it does not notice.
 */
async function rebuildSuspended(when: 'before' | 'after', pattern: RegExp): Promise<void> {
  const { writer } = world.store
  let sleeping: Promise<void> | undefined
  const sleepAt = async (moment: 'before' | 'after', query: string): Promise<void> => {
    if (moment === when && pattern.test(query)) await (sleeping ??= loseLease())
  }
  const sleepy: Connection = {
    ...writer,
    execute: async (one, settings) => {
      if (one.query.includes('(state, at)')) await sleeping
      await sleepAt('before', one.query)
      await writer.execute(one, settings)
      await sleepAt('after', one.query)
    },
  }
  await rebuildRollups(sleepy, {}).catch(() => undefined)
  expect(sleeping).toBeDefined()
}

describe('a rebuild', () => {
  test.each([
    ['the recording has ended', /^DROP TABLE \{p0:Identifier\} SYNC/],
    ['a shadow table is complete', /draft_\d+_sessions_monthly ATTACH PARTITION/],
    ['the last shadow table is complete', /draft_\d+_users_monthly ATTACH PARTITION/],
  ])('suspended just after %s, it notices that another process has loaded', async (_when, last) => {
    await rebuildSuspended('after', last)
    expect(await check()).toEqual(AGREEING)
  })

  test.each([
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
    await rebuildSuspended('before', last)
    expect(await check()).toEqual(AGREEING)
  })

  test('suspended during a check, it reports no load of another process', async () => {
    const last = /draft_\d+_stored_users_monthly ATTACH PARTITION/
    const writer = meanwhile(last, loseLease)
    const checked = checkRollups(writer, {}).catch((error: unknown) => error)
    expect([AGREEING, expect.any(LeaseLostError)]).toContainEqual(await checked)
    expect(await check()).toEqual(AGREEING)
  })
})
