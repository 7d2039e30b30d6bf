/**
 * A load that an earlier build has staged: in tables of its own, which lack the columns of dimensions that this build has gained.
 */
import { expect, test } from '@jest/globals'
import type { Connection } from '../../../../src/clickhouse/connection.js'
import { identifier, sql, statement, uint64 } from '../../../../src/clickhouse/sql.js'
import { findUnfinishedLoads } from '../../../../src/ingest/loader/load-log.js'
import { breakAfter, BrokenError } from '../../../support/store/breaking.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, listLeftovers } from '../../../support/store/facts.js'
import { checkRollups, loadStream, loadWaiting } from '../../../support/store/loading.js'
import { feed } from '../../../support/store/stream.js'
import { createWorld, runQuery } from '../../../support/world/world.js'

const database = withDatabase()

/**
 * The tables of the earlier build, by the tables that this one stages in, with the columns that it did not know: of a dimension with
 * rollups, and of one that only filters.
 */
const FORMER = {
  rows: { name: 'rows', lacks: sql`, os, referrer_url, received_on, rejection` },
  exclusions: { name: 'untracked', lacks: sql`` },
  kept: { name: 'kept', lacks: sql`` },
  users: { name: 'users', lacks: sql`` },
  items: { name: 'items', lacks: sql`` },
  sessions: { name: 'sessions', lacks: sql`, os, referrer_url` },
  past: { name: 'past', lacks: sql`, os, referrer_url, new_os, new_referrer_url` },
  moved: { name: 'moved', lacks: sql`, os, referrer_url` },
} as const

/** Moves what a load has staged to where the earlier build had it. */
async function stageAsFormerly(writer: Connection, load: number): Promise<void> {
  for (const [table, { name, lacks }] of Object.entries(FORMER)) {
    const staged = identifier(`loading_${table}`)
    await writer.execute(
      statement(sql`
CREATE TABLE ${identifier(`load_${load}_${name}`)} ENGINE = MergeTree ORDER BY tuple() AS
SELECT * EXCEPT (staged_load${lacks}) FROM ${staged} WHERE staged_load = ${uint64(load)}`),
    )
    await writer.execute(statement(sql`ALTER TABLE ${staged} DROP PARTITION ${uint64(load)}`))
  }
}

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
  await stageAsFormerly(store.writer, staged!.number)
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

test('it is published if its tables were moved before a kill, and each of them once', async () => {
  const { store } = database
  const project = await createWorld(store, [])
  await feed(store, project.id, [{ timestamp: '2026-02-10T10:00:00Z', user_id: 'a', path: '/a' }])
  await expect(loadStream(breakAfter(store.writer, /INSERT INTO users/))).rejects.toThrow(
    BrokenError,
  )
  const [staged] = await findUnfinishedLoads(store.writer)
  await stageAsFormerly(store.writer, staged!.number)
  for (const statements of [/INSERT INTO .*staged_load/s, /DROP TABLE .* SYNC/]) {
    await expect(loadWaiting(breakAfter(store.writer, statements))).rejects.toThrow(BrokenError)
  }
  await loadWaiting(store.writer)
  await expectConsistentFacts(store, project.id)
  expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
  expect(await listLeftovers(store)).toEqual([])
})
