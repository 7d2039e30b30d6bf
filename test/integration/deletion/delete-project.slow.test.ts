/** Deleting a project deletes all its data, and changes no other project. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueKey } from '../../../src/auth/api-keys.js'
import { createAuthenticator } from '../../../src/auth/authenticate.js'
import { identifier, join, sql, string } from '../../../src/clickhouse/sql.js'
import { insertBatch } from '../../../src/ingest/inbox/batches.js'
import { finishDeletions } from '../../../src/deletion/deletion-steps.js'
import { KEYS_END_MS } from '../../../src/deletion/project-deletion-steps.js'
import { recordStep, startDeletion, STEP } from '../../../src/deletion/journal.js'
import { listDefinitionVersions, writeDefinition } from '../../../src/projects/definitions.js'
import type { StoredProject } from '../../../src/projects/project.js'
import {
  createProject,
  findProject,
  findProjectByToken,
  rotateToken,
  updateProject,
} from '../../../src/projects/store.js'
import { UserError } from '../../../src/lib/errors.js'
import { sample, thoroughTest } from '../../support/effort.js'
import { breakAfter, BrokenError } from '../../support/store/breaking.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { listLeftovers, readFacts, select } from '../../support/store/facts.js'
import { PURCHASE } from '../../support/world/definitions.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { readRollups } from '../../support/store/rollups.js'
import {
  ARRIVAL,
  runQuery,
  type PartialRequest,
  createWorld,
  send,
  type SentEvent,
} from '../../support/world/world.js'
import { deleteProject, finishInterruptedWork } from '../../support/store/loading.js'

const NOW = new Date('2026-02-01T00:00:00Z')
const EVENTS: readonly SentEvent[] = [
  { timestamp: '2026-01-30T10:00:00Z', event_id: '1', user_id: 'u', path: '/a', country: 'DE' },
  { timestamp: '2026-01-31T10:00:00Z', event_id: '2', user_id: 'v', name: 'signup' },
]

let database: TestDatabase
let keys: TestKeys

beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
})
afterAll(() => Promise.all([database.drop(), keys.remove()]))

const issue = async ({ id: projectId }: StoredProject): Promise<string> => {
  const request = { projectId, name: '', expiresAt: null }
  const { token } = await issueKey(database.store, keys.signingKey, request, NOW)
  return token
}

const isRefused = (token: string): Promise<boolean> => {
  const { store } = database
  const { authenticate } = createAuthenticator({ store, keyring: keys.keyring, now: () => NOW })
  return authenticate(`Bearer ${token}`).then(
    () => false,
    () => true,
  )
}

/** Lists the tables with rows of a project, among all tables with a project column but the one that keeps its usage for invoices. */
async function listTablesWithRows({ id }: StoredProject): Promise<readonly string[]> {
  const { store } = database
  const tables = await select<{ table: string; column: string }>(
    store,
    sql`
SELECT table, name AS column FROM system.columns
WHERE database = currentDatabase() AND (name = 'project_id' OR (table, name) IN (('projects', 'id'), ('inbox', 'project')))
  AND table != 'deleted_usage'
  AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')`,
  )
  expect(tables.length).toBeGreaterThan(15)
  const counts = tables.map(
    ({ table, column }) =>
      sql`SELECT ${string(table)} AS name FROM ${identifier(table)} WHERE ${identifier(column)} = ${string(id)}`,
  )
  const rows = await select<{ name: string }>(
    store,
    sql`SELECT DISTINCT name FROM (${join(counts, sql` UNION ALL `)}) ORDER BY name`,
  )
  return rows.map(({ name }) => name)
}

const WHOLE: PartialRequest = { date_range: ['2026-01-01', '2026-01-31'], group_by: ['country'] }

test('all its rows are deleted, its keys are refused, and other projects are unchanged', async () => {
  const { store } = database
  const [project, other] = [await createWorld(store, EVENTS), await createWorld(store, EVENTS)]
  const [key, otherKey] = [await issue(project), await issue(other)]
  const stateOf = async (one: StoredProject): Promise<unknown> => [
    await runQuery(store, one, WHOLE),
    await readFacts(store, one.id),
    await readRollups(store, one.id),
    await listDefinitionVersions(store.reader, one.id),
    await isRefused(otherKey),
  ]
  for (const { id } of [project, other]) await writeDefinition(store.writer, id, PURCHASE)
  const before = await stateOf(other)
  expect(await isRefused(key)).toBe(false)
  expect(await listTablesWithRows(project)).toContain('definitions')
  const bytes = Buffer.from(JSON.stringify({ ...EVENTS[0], event_id: '3' }))
  await insertBatch(store.writer, {
    now: ARRIVAL,
    batch: 'waiting',
    projectId: project.id,
    firstRow: 1,
    bytes,
  })

  expect(await deleteProject(store, project.id)).toEqual({ events: 3, users: 2, keys: 1 })
  expect(await listTablesWithRows(project)).toEqual([])
  expect(await listLeftovers(store)).toEqual([])
  expect(await isRefused(key)).toBe(true)
  expect(await stateOf(other)).toEqual(before)
  await expect(deleteProject(store, project.id)).rejects.toEqual(
    new UserError(`there is no project ${project.id}`),
  )
  const { rejections } = await send(store, project, EVENTS)
  expect(rejections.map(({ reason }) => reason)).toEqual(
    EVENTS.map(() => `project: there is no project ${project.id}`),
  )
})

test('a new project with the same id has no data of the old one', async () => {
  const { store } = database
  const old = await createWorld(store, EVENTS)
  const key = await issue(old)
  const facts = await readFacts(store, old.id)
  await deleteProject(store, old.id)
  const again = await createProject(store, { id: old.id, name: 'New', domain: 'new.example' }, NOW)
  expect(await readFacts(store, again.id)).toEqual([])
  expect(await isRefused(key)).toBe(true)
  await send(store, again, EVENTS)
  expect(await readFacts(store, again.id)).toEqual(facts)
  expect(await isRefused(await issue(again))).toBe(false)
})

test('a deletion that stops in the middle is finished by the next loader', async () => {
  const { store } = database
  const moments = [
    /INTO removals/,
    /INTO projects/,
    /FROM api_keys/,
    /FROM sessions_daily/,
    /FROM events /,
    /FROM event_ids/,
  ]
  for (const moment of sample(moments, 6)) {
    const project = await createWorld(store, EVENTS)
    const key = await issue(project)
    const broken = breakAfter(store.writer, moment)
    const { id: projectId, token } = project
    const stopped = startDeletion(broken, { projectId, users: [], token }).then(() =>
      finishInterruptedWork(broken),
    )
    await expect(stopped).rejects.toThrow(BrokenError)
    expect(await findProject(store.reader, project.id)).toMatchObject({ token })
    await finishInterruptedWork(store.writer)
    expect({ moment, listTablesWithRows: await listTablesWithRows(project) }).toEqual({
      moment,
      listTablesWithRows: [],
    })
    expect(await isRefused(key)).toBe(true)
  }
})

test('a deletion that is finished late does not affect a new project with the same id', async () => {
  const { store } = database
  const old = await createWorld(store, EVENTS)
  const { id: projectId, token } = old
  await deleteProject(store, projectId)
  const again = await createProject(
    store,
    { id: projectId, name: 'New', domain: 'new.example' },
    NOW,
  )
  const key = await issue(again)
  await send(store, again, EVENTS)
  const removal = { number: 1_000, reached: STEP.deleted, projectId, users: [], token }
  await recordStep(store.writer, removal, STEP.deleted)
  await finishInterruptedWork(store.writer)
  expect(await findProject(store.reader, projectId)).toEqual(again)
  expect(await isRefused(key)).toBe(false)
  expect(await readFacts(store, projectId)).toHaveLength(2)
  expect(await listTablesWithRows(old)).not.toContain('removals')
})

thoroughTest('until its keys are refused, every response counts everything', async () => {
  const { store } = database
  const project = await createWorld(store, EVENTS)
  const key = await issue(project)
  const { authenticate } = createAuthenticator({ store, keyring: keys.keyring, now: () => NOW })
  const wanted = await runQuery(store, project, WHOLE)
  let isGone = false
  const gone = deleteProject(store, project.id, KEYS_END_MS).then(() => (isGone = true))
  let answers = 0
  for (;;) {
    const caller = await authenticate(`Bearer ${key}`).catch(() => undefined)
    if (caller === undefined) break
    // The slowest query that was accepted.
    await sleep(500)
    expect(await runQuery(store, project, WHOLE)).toEqual(wanted)
    answers += 1
  }
  expect(isGone).toBe(false)
  expect(answers).toBeGreaterThan(0)
  const bytes = Buffer.from(JSON.stringify({ ...EVENTS[0], event_id: '3' }))
  const waiting = { now: ARRIVAL, batch: 'late', projectId: project.id, firstRow: 1, bytes }
  await insertBatch(store.writer, waiting)
  await expect(issue(project)).rejects.toEqual(
    new UserError(`the project ${project.id} is being deleted`),
  )
  for (const change of [
    updateProject(store, project.id, { name: 'x' }),
    rotateToken(store, project.id, NOW, NOW),
  ]) {
    await expect(change).rejects.toEqual(
      new UserError(`the project ${project.id} is being deleted`),
    )
  }
  expect(await findProjectByToken(store.reader, project.token)).toBeUndefined()
  await gone
  expect(await listTablesWithRows(project)).toEqual([])
  expect(await listLeftovers(store)).toEqual([])
})

test('a loader that finds a deletion whose keys ended a moment ago leaves the data', async () => {
  const { store } = database
  const project = await createWorld(store, EVENTS)
  const key = await issue(project)
  await startDeletion(store.writer, { projectId: project.id, users: [], token: project.token })
  for (let i = 0; i < 2; i += 1) {
    await finishDeletions(store.writer, { waitMs: 60_000 })
    expect(await isRefused(key)).toBe(true)
    expect(await readFacts(store, project.id)).toHaveLength(2)
  }
  await finishDeletions(store.writer, { waitMs: 1 })
  expect(await listTablesWithRows(project)).toEqual([])
})

test('a project whose public token was changed is deleted, too', async () => {
  const { store } = database
  const project = await createWorld(store, EVENTS)
  await rotateToken(store, project.id, new Date('2099-01-01'), NOW)
  await deleteProject(store, project.id)
  expect(await findProject(store.reader, project.id)).toBeUndefined()
  expect(await listTablesWithRows(project)).toEqual([])
})
