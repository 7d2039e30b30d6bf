/** While the rows of replaced groups of users are deleted, queries leave them out. */
import { expect, test } from '@jest/globals'
import { withHidden } from '../../../src/changes/announce-change.js'
import { joinMoments, readAt, readMoment } from '../../../src/changes/moment.js'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { identifier, sql, statement, string } from '../../../src/clickhouse/sql.js'
import { USER_ROLLUPS, writeOther } from '../../../src/model/rollups.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { breakAfter, BrokenError, pauseBefore, releaseLease } from '../../support/store/breaking.js'
import { withDatabase } from '../../support/store/database.js'
import { finishInterruptedWork, loadWaiting } from '../../support/store/loading.js'
import { feed } from '../../support/store/stream.js'
import { countPairs, newProject } from '../../support/world/world.js'

const database = withDatabase()

const visit = (country: string, time: string) => ({
  ...{ user_id: 'u1', path: '/a', browser: 'Firefox', country },
  timestamp: `2026-03-09T${time}Z`,
})

/** A user whose later event moves the visit from Germany to Austria. The rollups have its pairs, too. */
async function createProject(): Promise<StoredProject> {
  const { store } = database
  const project = await newProject(store)
  await countPairs(store, project)
  await feed(store, project.id, [visit('DE', '10:00:00')])
  await loadWaiting(store.writer)
  await feed(store, project.id, [visit('AT', '09:50:00')])
  return project
}

/**
 * Counts the users of Germany and of Austria in each rollup, as queries read it now.
 *
 * @param shards how many stores such as this one the queries read
 */
async function countUsers({ id }: StoredProject, shards = 1): Promise<unknown> {
  const { reader, database: name } = database.store
  const read = (await readMoment(reader, [id], AbortSignal.timeout(10_000)))!
  const moment = joinMoments(Array.from({ length: shards }, () => read))
  const counts = USER_ROLLUPS.map(async (rollup) => {
    const { rows } = await reader.query<{ country: string; users: number }>(
      statement(sql`
SELECT multiIf(value IN ('DE', 'AT'), value, ${writeOther(rollup)} != '', ${writeOther(rollup)}, '') AS country, toUInt32(groupBitmapMerge(users)) AS users
FROM ${identifier(rollup.name)} WHERE project_id = ${string(id)} AND country != '' AND dimension IN ('country', 'page:path and country')
GROUP BY country HAVING users > 0`),
      { settings: readAt([id], moment, name) },
    )
    return [rollup.name, rows] as const
  })
  return {
    isReplacing: moment.replacedBefore !== 0,
    users: Object.fromEntries(await Promise.all(counts)) as Record<string, unknown>,
  }
}

const IN_AUSTRIA = [{ country: 'AT', users: 1 }]
const USERS = {
  users_daily: IN_AUSTRIA,
  users_monthly: IN_AUSTRIA,
  pair_users_monthly: IN_AUSTRIA,
}

/** Counts the rows of Germany that are stored. */
async function countStored({ id }: StoredProject): Promise<number> {
  const { rows } = await database.store.reader.query<{ n: number }>(
    statement(
      sql`SELECT toUInt32(count()) AS n FROM users_daily WHERE project_id = ${string(id)} AND value = 'DE' AND bitmapCardinality(users) > 0`,
    ),
  )
  return rows[0]!.n
}

const DELETION = /ALTER TABLE users_daily UPDATE _row_exists/

test('queries leave replaced rows out until they are deleted', async () => {
  const { store } = database
  const project = await createProject()
  let meanwhile: unknown
  const pausing = (connection: Connection): Connection =>
    pauseBefore(connection, DELETION, async () => {
      const alone = await countUsers(project)
      // Nothing expires.
      await withHidden(
        store.writer,
        project.id,
        { keptFrom: '1971-01-01' },
        () => Promise.resolve(undefined),
        0,
      )
      const counted = [alone, await countUsers(project), await countUsers(project, 2)]
      meanwhile = { counted, stored: await countStored(project) }
    })
  await loadWaiting(pausing(store.writer))
  const replacing = { isReplacing: true, users: USERS }
  expect(meanwhile).toEqual({ counted: [replacing, replacing, replacing], stored: 1 })
  expect({
    counted: await countUsers(project),
    stored: await countStored(project),
  }).toEqual({ counted: { isReplacing: false, users: USERS }, stored: 0 })
})

test.each([
  /INSERT INTO users_daily/,
  /SELECT CAST\(\(groupArray/,
  DELETION,
  /INSERT INTO inbox_cursor/,
])('a load that is killed after %s is finished by the next loader', async (last) => {
  const { store } = database
  const project = await createProject()
  await expect(loadWaiting(breakAfter(store.writer, last))).rejects.toThrow(BrokenError)
  await releaseLease(store)
  await finishInterruptedWork(store.writer)
  expect(await countUsers(project)).toEqual({ isReplacing: false, users: USERS })
})
