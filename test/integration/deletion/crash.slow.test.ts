/** A deletion that stops after any statement is finished by the next loader, with the same result. */
import { expect, test } from '@jest/globals'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import { insertBatch } from '../../../src/ingest/inbox/batches.js'
import { startDeletion } from '../../../src/deletion/journal.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { LIVE } from '../../../src/model/rollup-table-sets.js'
import { isSampled, thoroughTest } from '../../support/effort.js'
import { breakAfter, BrokenError, pauseBefore } from '../../support/store/breaking.js'
import { withDatabase } from '../../support/store/database.js'
import {
  expectConsistentFacts,
  listLeftovers,
  readFacts,
  select,
} from '../../support/store/facts.js'
import { readRollups } from '../../support/store/rollups.js'
import { ARRIVAL, newProject, send } from '../../support/world/world.js'
import {
  checkRollups,
  deleteUsers,
  finishInterruptedWork,
  loadBatch,
  rebuildRollups,
  resumeLoads,
} from '../../support/store/loading.js'

const database = withDatabase()

const at = (time: string, user_id: string, fields: object): object => ({
  timestamp: `2026-${time}Z`,
  user_id,
  path: '/',
  ...fields,
})

/** The users to delete have the highest numbers. */
const EVENTS = [
  at('01-31T09:00:00', 'stays', { country: 'DE', path: '/a' }),
  at('01-31T10:00:00', 'goes', { country: 'DE', path: '/a', properties: { plan: 'pro' } }),
  at('02-01T10:00:00', 'goes', { country: 'FR', path: '/b', name: 'signup' }),
  at('02-01T11:00:00', 'stays', { country: 'FR', path: '/b', name: 'signup' }),
  // In a group of each of the others, and in one of its own.
  at('01-31T10:00:00', 'too', { country: 'DE', path: '/a', properties: { plan: 'pro' } }),
  at('02-01T10:00:00', 'too', { country: 'IT', path: '/b' }),
]
/** Events that change a session of each user but one. */
const LATE = [
  at('01-31T08:50:00', 'stays', { country: 'AT' }),
  at('01-31T09:50:00', 'goes', { country: 'AT' }),
]
const GONE = [2, 3]

async function makeProjects(count: number): Promise<StoredProject[]> {
  const { store } = database
  const projects: StoredProject[] = []
  while (projects.length < count) projects.push(await newProject(store))
  for (const events of [EVENTS, LATE]) {
    const sent = projects.flatMap(({ id }) => events.map((event) => ({ ...event, project: id })))
    await send(store, { id: '' }, sent as never)
  }
  return projects
}

const start = ({ id }: StoredProject): Promise<unknown> =>
  startDeletion(database.store.writer, { projectId: id, users: GONE, token: '' })

/** Reads everything that a deletion affects. */
async function outcome({ id }: StoredProject): Promise<unknown> {
  const { store } = database
  await expectConsistentFacts(store, id)
  const of = sql`project_id = ${string(id)}`
  return {
    facts: await readFacts(store, id),
    rollups: await readRollups(store, id),
    users: await select(store, sql`SELECT user_id, user FROM users WHERE ${of} ORDER BY user`),
    unfinished: await select(store, sql`SELECT * FROM removals WHERE step != 4`),
    leftovers: await listLeftovers(store),
  }
}

/** Deletes the users without interruption, checks the facts, and returns the expected outcome. */
async function deleteUndisturbed(project: StoredProject): Promise<unknown> {
  await start(project)
  await finishInterruptedWork(database.store.writer)
  const { differences } = await checkRollups(database.store.writer, { projectId: project.id })
  expect(differences).toEqual([])
  const wanted = await outcome(project)
  expect(wanted).toMatchObject({
    users: [{ user_id: 'stays', user: 1 }],
    unfinished: [],
    leftovers: [],
  })
  return wanted
}

test('a deletion that stops after any statement is finished by the next loader', async () => {
  const { writer } = database.store
  // Nothing is deleted before statement 35, so a sample of the statements before it is enough.
  const places = [1, 12, 23, ...Array.from({ length: 50 }, (_, i) => 35 + i)]
  // The last one is behind all statements.
  const counts = [...places.filter((_, i) => isSampled(i + 1, 12)), 1_000]
  const [calm, ...projects] = (await makeProjects(1 + counts.length)) as [
    StoredProject,
    ...StoredProject[],
  ]
  const wanted = await deleteUndisturbed(calm)

  let isDone = false
  for (const [i, count] of counts.entries()) {
    if (isDone) break
    const project = projects[i]!
    await start(project)
    const stopped = finishInterruptedWork(breakAfter(writer, count))
    const error: unknown = await stopped.catch((thrown: unknown) => thrown)
    isDone = error === undefined
    if (!isDone) expect(error).toBeInstanceOf(BrokenError)
    if (isDone) expect(count).toBeGreaterThan(50)
    await finishInterruptedWork(writer)
    expect({ count, outcome: await outcome(project) }).toEqual({ count, outcome: wanted })
  }
  expect(isDone).toBe(true)
})

/** Does something that first finishes the deletion in `project`. */
type Finisher = (other: StoredProject, project: StoredProject) => Promise<unknown>

thoroughTest(
  'merges and a rebuild in the middle of a deletion do not change its result',
  async () => {
    const { store } = database
    const moments = [
      [/DELETE FROM sessions/, (other) => send(store, other, [EVENTS[0]] as never)],
      [/INTO pageviews_daily/, (other) => deleteUsers(store, other.id, ['goes', 'too'])],
      [
        /INTO users_monthly/,
        (_, project) => rebuildRollups(store.writer, { projectId: project.id }),
      ],
    ] as readonly (readonly [RegExp, Finisher])[]
    const [calm, other, ...projects] = (await makeProjects(moments.length + 2)) as [
      StoredProject,
      StoredProject,
      ...StoredProject[],
    ]
    const wanted = await deleteUndisturbed(calm)
    for (const [i, [moment, finish]] of moments.entries()) {
      const project = projects[i]!
      await start(project)
      await expect(finishInterruptedWork(breakAfter(store.writer, moment))).rejects.toThrow(
        BrokenError,
      )
      for (const table of [LIVE.sessions, ...Object.values(LIVE.rollups)]) {
        await store.writer.execute(statement(sql`OPTIMIZE TABLE ${table} FINAL`))
      }
      await finish(other, project)
      expect({ moment, outcome: await outcome(project) }).toEqual({ moment, outcome: wanted })
    }
  },
)

thoroughTest(
  'a suspended process that resumes after another finished its deletion deletes nothing of the next user',
  async () => {
    const { store } = database
    const moments = [39, 41, 45, 49, 52]
    const [calm, ...projects] = (await makeProjects(moments.length + 1)) as [
      StoredProject,
      ...StoredProject[],
    ]
    const next = async (project: StoredProject): Promise<void> => {
      await send(store, project, [at('01-31T10:00:00', 'next', { country: 'DE' })] as never)
    }
    await deleteUndisturbed(calm)
    await next(calm)
    const wanted = await outcome(calm)
    expect(wanted).toMatchObject({ users: [{}, { user_id: 'next', user: 4 }] })

    for (const [i, moment] of moments.entries()) {
      const project = projects[i]!
      await start(project)
      // Its tables may have been dropped.
      await finishInterruptedWork(pauseBefore(store.writer, moment, () => next(project))).catch(
        () => undefined,
      )
      expect({ moment, outcome: await outcome(project) }).toEqual({ moment, outcome: wanted })
    }
  },
)

thoroughTest('a half-published load is finished before the rollups are rebuilt', async () => {
  const { store } = database
  const [calm, ...projects] = (await makeProjects(3)) as [StoredProject, ...StoredProject[]]
  const more = at('01-31T10:05:00', 'goes', { country: 'DE' })
  await send(store, calm, [more] as never)
  const wanted = await readRollups(store, calm.id)
  for (const [i, moment] of [/INTO events /, /INTO sessions /].entries()) {
    const project = projects[i]!
    const bytes = Buffer.from(JSON.stringify(more))
    const batch = `half-${i}`
    await insertBatch(store.writer, {
      now: ARRIVAL,
      batch,
      projectId: project.id,
      firstRow: 1,
      bytes,
    })
    await expect(loadBatch(breakAfter(store.writer, moment), batch)).rejects.toThrow(BrokenError)
    await rebuildRollups(store.writer, { projectId: project.id })
    expect(await readRollups(store, project.id)).toEqual(wanted)
    await resumeLoads(store.writer)
    expect(await readRollups(store, project.id)).toEqual(wanted)
  }
})
