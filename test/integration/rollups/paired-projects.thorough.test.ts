/** Rollups of pairs: only large projects have them, and queries read them only once they count every event. */
import { beforeAll, expect, test } from '@jest/globals'
import { readMoment } from '../../../src/changes/moment.js'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { createProject } from '../../../src/projects/store.js'
import { isPaired, MIN_PAIRED_EVENTS } from '../../../src/rollups/paired-projects.js'
import { breakAfter, BrokenError, pauseBefore } from '../../support/store/breaking.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import {
  checkRollups,
  deleteUser,
  ensureRollups,
  pairLargeProjects,
} from '../../support/store/loading.js'
import { NOW, runQuery, send, type SentEvent } from '../../support/world/world.js'

const database = withDatabase()
let [large, small]: readonly (StoredProject | undefined)[] = []

const at = (time: string, fields: object): SentEvent => ({
  timestamp: `2026-${time}Z`,
  user_id: 'u',
  path: '/',
  ...fields,
})
const EVENTS = [
  at('01-15T10:00:00', { country: 'DE', user_id: 'v', path: '/a' }),
  at('01-31T23:50:00', { country: 'DE', browser: 'Firefox' }),
  at('02-01T00:10:00', { country: 'DE', name: 'signup', browser: 'Firefox' }),
]

/** Creates a project as the service does, without pairs. */
const create = (id: string): Promise<StoredProject> =>
  createProject(database.store, { id, name: id, domain: `${id}.example` }, NOW)

/** Raises the counts of a project, so that it is taken for a large one until its rollups are rebuilt. */
const enlarge = ({ id }: StoredProject): Promise<void> =>
  database.store.writer.execute(
    statement(sql`
INSERT INTO sessions_monthly (project_id, dimension, value, month, pageviews)
SELECT ${string(id)}, 'total', '', toDate('2026-01-01'), ${string(String(MIN_PAIRED_EVENTS))}::Int64`),
  )

const listPaired = async () =>
  (
    await select<{ project_id: string }>(
      database.store,
      sql`
        SELECT project_id FROM pairs_monthly
        UNION DISTINCT
        SELECT project_id FROM pair_users_monthly
        ORDER BY project_id`,
    )
  ).map(({ project_id: id }) => id)

const countPaired = async (...ids: readonly string[]) =>
  (await readMoment(database.store.lookups, ids, AbortSignal.timeout(60_000)))?.paired

const byPage = async (project: StoredProject) =>
  (
    await runQuery(database.store, project, {
      date_range: ['2026-01-01', '2026-02-28'],
      metrics: ['users', 'pageviews', 'bounce_rate'],
      group_by: ['page:path'],
      filters: [{ type: 'location', country: { operator: 'oneOf', value: ['DE', 'FR'] } }],
    })
  ).data

const row = (path: string, metrics: object) => ({ group: { 'page:path': path }, metrics })

beforeAll(async () => {
  for (const id of ['large', 'small']) {
    const project = await create(id)
    await send(database.store, project, EVENTS)
    if (id === 'large') large = project
    else small = project
  }
})

test('a small project has none, and a large one gets them, with its earlier events', async () => {
  await enlarge(large!)
  expect(await listPaired()).toEqual([])

  // A process that is killed in the middle of it leaves pairs that nobody reads.
  const writer = breakAfter(database.store.writer, /REPLACE PARTITION/)
  await expect(pairLargeProjects({ ...database.store, writer })).rejects.toThrow(BrokenError)
  await send(database.store, large!, [at('02-02T00:00:00', { country: 'FR' })])
  expect(await isPaired(database.store.reader, 'large')).toBe(false)
  expect(await countPaired('large')).toBe(0)

  await pairLargeProjects(database.store)
  expect(await isPaired(database.store.reader, 'large')).toBe(true)
  expect(await countPaired('large', 'small')).toBe(1)
  expect(await listPaired()).toEqual(['large'])
  expect(await checkRollups(database.store.writer, {})).toMatchObject({ different: 0 })
  expect(await byPage(large!)).toEqual([
    row('/', { users: 1, pageviews: 2, bounce_rate: 50 }),
    row('/a', { users: 1, pageviews: 1, bounce_rate: 100 }),
  ])
})

test('they follow late events and deleted users, and a build of all rollups keeps them', async () => {
  await send(database.store, large!, [at('01-31T23:40:00', { country: 'FR', path: '/late' })])
  await send(database.store, small!, [at('01-31T23:40:00', { country: 'FR' })])
  expect(await checkRollups(database.store.writer, {})).toMatchObject({ different: 0 })
  await deleteUser(database.store, 'large', 'v')
  expect(await checkRollups(database.store.writer, {})).toMatchObject({ different: 0 })
  const rows = await byPage(large!)
  expect(rows).toEqual([
    row('/', { users: 1, pageviews: 2, bounce_rate: 100 }),
    row('/late', { users: 1, pageviews: 1, bounce_rate: 0 }),
  ])

  await database.store.writer.execute(statement(sql`TRUNCATE TABLE rollup_builds`))
  await ensureRollups(database.store)
  expect(await listPaired()).toEqual(['large'])
  expect(await checkRollups(database.store.writer, {})).toMatchObject({ different: 0 })
  expect(await byPage(large!)).toEqual(rows)
})

test('a project that is deleted while its pairs are counted has none', async () => {
  const project = await create('deleted')
  await send(database.store, project, EVENTS)
  await enlarge(project)
  const writer = pauseBefore(database.store.writer, /INSERT INTO project_changes/, async () => {
    await database.store.writer.execute(
      statement(sql`DELETE FROM paired_projects WHERE project_id = 'deleted'`),
    )
  })
  await pairLargeProjects({ ...database.store, writer })
  expect(await isPaired(database.store.reader, 'deleted')).toBe(false)
})
