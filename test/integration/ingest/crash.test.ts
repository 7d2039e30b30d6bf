/** A loader that is stopped at any statement: the next one finishes its work, and nothing is doubled. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { putBatch } from '../../../src/ingest/inbox.js'
import { loadBatch, resumeLoads } from '../../../src/ingest/loader/load.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { breaking, BrokenError } from '../../support/breaking.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { factsAgree, leftovers, readFacts, select } from '../../support/facts.js'
import { newProject, send } from '../../support/world.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

const at = (time: string, fields: object): object => ({
  timestamp: `2026-01-${time}Z`,
  user_id: 'u',
  ...fields,
})

/** What is stored already: two sessions of one user, in two months' partitions, and a known event id. */
const BEFORE = [
  at('31T23:30:00', { path: '/a', utm_source: 'mail', event_id: 'known' }),
  { ...at('', {}), timestamp: '2026-02-01T00:20:00Z', path: '/b', utm_source: 'ads' },
] as const

/** What is loaded while things break: every table of the load gets rows, and sessions are joined. */
const BATCH = [
  { ...at('', {}), timestamp: '2026-02-01T00:00:00Z', path: '/late', properties: { plan: 'pro' } },
  at('31T23:10:00', { path: '/first', utm_source: 'search' }),
  at('31T12:00:00', { path: '/known', event_id: 'known' }),
  at('31T12:00:00', { path: '/new', event_id: 'new', user_id: 'v' }),
  at('31T12:01:00', { path: '/new', event_id: 'new', user_id: 'v' }),
  at('31T13:00:00', { path: '/given', session_id: 's' }),
  at('31T13:00:00', { path: '/excluded', ip: '10.0.0.1' }),
  at('31T14:00:00', { path: '/derived', user_id: null, ip: '10.0.0.2', user_agent: 'x' }),
  at('32T00:00:00', { path: '/bad' }),
]
const REPORT = { received: 9, events: 5, duplicates: 2, excluded: 1, rejected: 1 }

const makeProject = async (): Promise<StoredProject> => {
  const project = await newProject(database.store, { excludedIps: ['10.0.0.1'] })
  await send(database.store, project, BEFORE as never)
  return project
}

const put = (project: StoredProject, batch: string): Promise<void> =>
  putBatch(database.store.writer, {
    batch,
    projectId: project.id,
    firstRow: 1,
    bytes: Buffer.from(BATCH.map((event) => JSON.stringify(event)).join('\n')),
  })

/** Everything that a batch came to; derived users are named by project, hence left out. */
async function outcome(project: StoredProject, batch: string): Promise<unknown> {
  const { store } = database
  await factsAgree(store, project.id)
  const facts = await readFacts(store, project.id)
  return {
    facts: facts.map((fact) => ({
      ...fact,
      user_id: fact.user_id.replace(/^anonymous-.*/, 'anonymous'),
    })),
    users: await select(
      store,
      sql`SELECT count() AS n FROM users WHERE project_id = ${string(project.id)}`,
    ),
    ids: await select(
      store,
      sql`SELECT count() AS n FROM event_ids WHERE project_id = ${string(project.id)}`,
    ),
    loads: await select(
      store,
      sql`
SELECT step, received, events, duplicates, excluded, rejected
FROM loads FINAL WHERE batch = ${string(batch)}`,
    ),
    rejections: await select(
      store,
      sql`SELECT row, reason FROM rejections WHERE batch = ${string(batch)}`,
    ),
    leftovers: await leftovers(store),
  }
}

const DONE = {
  users: [{ n: 3 }],
  ids: [{ n: 2 }],
  loads: [{ step: 3, ...REPORT }],
  rejections: [{ row: 9, reason: expect.stringMatching(/^timestamp: must be ISO 8601/) }],
  leftovers: [],
}

test('stopped after each statement in turn, a load is finished by the next loader', async () => {
  const { writer } = database.store
  const calm = await makeProject()
  await put(calm, 'calm')
  expect(await loadBatch(writer, 'calm')).toEqual(REPORT)
  const wanted = await outcome(calm, 'calm')
  expect(wanted).toMatchObject(DONE)

  for (let count = 1, isDone = false; !isDone; count += 1) {
    const project = await makeProject()
    const batch = `stopped-${count}`
    await put(project, batch)
    try {
      await loadBatch(breaking(writer, count), batch)
      isDone = true
      expect(count).toBeGreaterThan(20)
    } catch (error) {
      expect(error).toBeInstanceOf(BrokenError)
    }
    await resumeLoads(writer)
    expect({ count, ...((await outcome(project, batch)) as object) }).toEqual({
      count,
      ...(wanted as object),
    })
    expect(await loadBatch(writer, batch)).toEqual(REPORT)
  }
}, 180_000)

test('stopped again and again while it resumes, a load is finished all the same', async () => {
  const { writer } = database.store
  const project = await makeProject()
  await put(project, 'again')
  const tries: unknown[] = []
  for (let count = 1; tries.at(-1) !== 'done'; count += 4) {
    const resumed = resumeLoads(breaking(writer, count))
    tries.push(await resumed.then(() => 'done').catch((error: unknown) => (error as Error).name))
  }
  expect(tries.length).toBeGreaterThan(5)
  expect(await outcome(project, 'again')).toMatchObject(DONE)
}, 60_000)

test('a load that another importer left is finished before the next piece of one that goes on', async () => {
  const { store } = database
  const { writer } = store
  const [left, other] = [await makeProject(), await newProject(store)]
  const importing = send(store, other, [{ timestamp: '2026-01-01T00:00:00Z', user_id: 'u' }])
  await importing
  await put(left, 'left')
  // The sixteenth statement is in the midst of making it visible.
  await expect(loadBatch(breaking(writer, 16), 'left')).rejects.toBeInstanceOf(BrokenError)
  await send(store, other, [{ timestamp: '2026-01-01T00:00:01Z', user_id: 'u' }])
  expect(await outcome(left, 'left')).toMatchObject(DONE)
  await factsAgree(store, other.id)
})
