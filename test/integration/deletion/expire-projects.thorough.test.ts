/** Data that a project keeps no longer is deleted exactly: what is kept is counted as before. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import { startExpiration } from '../../../src/deletion/expiration-journal.js'
import { expireProjects } from '../../../src/deletion/expire-projects.js'
import { createLogger } from '../../../src/lib/log.js'
import { addDays } from '../../../src/lib/time.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { findProject, markCut, updateProject } from '../../../src/projects/store.js'
import { request } from '../../support/arbitrary/world.js'
import { breakAfter, BrokenError, pauseBefore } from '../../support/store/breaking.js'
import { agreeOn } from '../../support/store/clocks.js'
import { withDatabase } from '../../support/store/database.js'
import { listLeftovers, readFacts, select } from '../../support/store/facts.js'
import { checkRollups, createContext, finishInterruptedWork } from '../../support/store/loading.js'
import { readRollups } from '../../support/store/rollups.js'
import {
  LARGE_SIZES,
  countPairs,
  newProject,
  runQuery,
  send,
  type PartialRequest,
  type SentEvent,
} from '../../support/world/world.js'

/** 25 days before is 17 January 2026, in the midst of a month. */
const NOW = new Date('2026-02-11T15:00:00Z')
const KEEP_DAYS = 25
const KEPT_FROM = '2026-01-17'
const LAST_DAY = '2026-02-10'

const database = withDatabase()

const COUNTRIES = ['DE', 'FR', 'AT']
/** Eight users with sessions at many times, some over midnight, from November to February; two of them come back. */
const EVENTS: readonly SentEvent[] = Array.from({ length: 160 }, (_, i) => {
  const day = addDays(new Date('2025-11-20T00:00:00Z'), (i * 37) % 83)
  const minutes = i % 5 === 0 ? 1_425 + (i % 3) * 10 : (i * 131) % 1_440
  return {
    timestamp: new Date(day.getTime() + minutes * 60_000).toISOString(),
    user_id: `u${(i * 7) % 11}`,
    name: i % 4 === 0 ? 'signup' : 'pageview',
    path: `/${i % 6}`,
    country: COUNTRIES[i % 3]!,
    properties: { plan: i % 2 === 0 ? 'pro' : 'free' },
  }
})
/** Sessions over the edge, and users who are on one side of it only. */
const EDGE: readonly SentEvent[] = [
  ['2026-01-16T23:50:00Z', 'over'],
  ['2026-01-17T00:05:00Z', 'over'],
  ['2026-01-16T12:00:00Z', 'before'],
  ['2026-01-17T00:00:00.000Z', 'after'],
  ['2026-01-16T23:59:59.999Z', 'long before'],
  ['2026-02-11T10:00:00Z', 'today'],
].map(([timestamp, user_id]) => ({ timestamp: timestamp!, user_id: user_id!, path: '/edge' }))
/** Changes sessions of both sides. */
const LATE: readonly SentEvent[] = EDGE.map(({ timestamp, user_id }) => ({
  timestamp: new Date(Date.parse(timestamp) - 10 * 60_000).toISOString(),
  user_id: user_id!,
  path: '/late',
  country: 'AT',
}))

/** Creates projects that all have the same events. */
async function createFilledProjects(count: number): Promise<StoredProject[]> {
  const projects: StoredProject[] = []
  while (projects.length < count) projects.push(await newProject(database.store))
  for (const project of projects) await countPairs(database.store, project)
  for (const events of [EVENTS, EDGE, LATE]) {
    const sent = projects.flatMap(({ id }) => events.map((event) => ({ ...event, project: id })))
    await send(database.store, { id: '' }, sent)
  }
  return projects
}

/** Two session attributes at once: such questions are answered from sessions as long as all are stored. */
const BY_ATTRIBUTES: PartialRequest = {
  date_range: 'all',
  metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
  group_by: ['country'],
  filters: [{ type: 'browser', operator: 'noneOf', value: ['Opera'] }],
}

/** The exit page of an event is that of its session, which may be gone. */
const namesExitPage = (query: PartialRequest): boolean => JSON.stringify(query).includes('exit')

const SAMPLE = fc.sample(
  request.filter((query) => !namesExitPage(query)),
  { seed: 20_260_211, numRuns: 12 },
)
const QUERIES = [BY_ATTRIBUTES, ...SAMPLE].map((query) => ({
  ...query,
  date_range: [KEPT_FROM, LAST_DAY] as [string, string],
  // The kept days are those of UTC: in a zone east of it, the first of them begins earlier.
  time_zone: 'UTC',
  // Users from before are new again on the days that are kept.
  metrics: (query.metrics ?? []).filter((metric) => metric !== 'new_users'),
  order_by: [],
}))

/** Answers every query about the kept days, by what is known about the project now. */
async function answerAll({ id }: StoredProject): Promise<readonly unknown[]> {
  const project = (await findProject(database.store.reader, id))!
  return Promise.all(
    QUERIES.map((query) => runQuery(database.store, project, query, NOW, LARGE_SIZES)),
  )
}

/** The first call for a project only records that its sessions are cut. */
const expireOnce = (now = NOW): Promise<unknown> =>
  expireProjects(
    { store: database.store, context: createContext(), logger: createLogger('silent') },
    agreeOn(now),
  )

/** What is left that should not be, or should be and is not. */
async function findFaults(project: StoredProject): Promise<unknown> {
  const { store } = database
  const of = sql`project_id = ${string(project.id)}`
  const { differences } = await checkRollups(store.writer, { projectId: project.id })
  const rollups = (await readRollups(store, project.id)) as readonly { date: string }[]
  return {
    differences,
    old: rollups.filter(({ date }) => date < (date.endsWith('-01') ? '2026-01-01' : KEPT_FROM)),
    facts: await select(
      store,
      sql`
SELECT 'event' AS what FROM events WHERE ${of} AND timestamp < toDate(${string(KEPT_FROM)})
UNION ALL SELECT 'session' FROM sessions WHERE ${of} AND start_at < toDate(${string(KEPT_FROM)})
UNION ALL SELECT 'user' FROM users WHERE ${of} AND user NOT IN (SELECT user FROM events WHERE ${of})
UNION ALL SELECT 'event without user' FROM events WHERE ${of} AND user NOT IN (SELECT user FROM users WHERE ${of})
UNION ALL SELECT 'journal' FROM expirations WHERE step != 4`,
    ),
    leftovers: await listLeftovers(store),
  }
}
const NO_FAULTS = { differences: [], old: [], facts: [], leftovers: [] }

test('every query about the kept days is answered as before, and other projects keep all', async () => {
  const { store } = database
  const [project, other] = (await createFilledProjects(2)) as [StoredProject, StoredProject]
  const others = [await readFacts(store, other.id), await readRollups(store, other.id)]
  const before = await answerAll(project)
  await expireOnce()
  expect(await answerAll(project)).toEqual(before)
  await updateProject(store, project.id, { keepDays: KEEP_DAYS })
  await expireOnce()
  expect(await readFacts(store, project.id)).toHaveLength((await readFacts(store, other.id)).length)
  await expireOnce()
  expect(await answerAll(project)).toEqual(before)
  const count = async ({ id }: StoredProject): Promise<unknown> => {
    const asked = {
      date_range: [KEPT_FROM, LAST_DAY] as const,
      metrics: ['users', 'new_users'] as const,
    }
    return (await runQuery(store, (await findProject(store.reader, id))!, asked, NOW)).data[0]
      ?.metrics
  }
  const { users } = (await count(other)) as { users: number }
  expect(await count(other)).toEqual({ users, new_users: 0 })
  expect(await count(project)).toEqual({ users, new_users: users })
  expect(await findFaults(project)).toEqual(NO_FAULTS)
  // Events whose session is gone stay, also when the project keeps everything from now on.
  await updateProject(store, project.id, { keepDays: null })
  expect(await answerAll(project)).toEqual(before)
  await updateProject(store, project.id, { keepDays: KEEP_DAYS })
  expect([await readFacts(store, other.id), await readRollups(store, other.id)]).toEqual(others)

  // A day later one more day goes, and there are new users.
  await send(store, project, [{ timestamp: '2026-02-12T10:00:00Z', user_id: 'new', country: 'DE' }])
  await expireOnce(addDays(NOW, 1))
  expect((await findFaults(project)) as object).toMatchObject({ differences: [], leftovers: [] })
})

test('an expiration that stops after any statement is finished by the next loader', async () => {
  const { store } = database
  const counts = Array.from({ length: 7 }, (_, i) => 1 + 48 * i)
  const projects = await createFilledProjects(counts.length)
  let isDone = false
  for (const [i, count] of counts.entries()) {
    if (isDone) break
    const project = projects[i]!
    const before = await answerAll(project)
    await markCut(store.writer, project.id)
    await startExpiration(store.writer, { projectId: project.id, keptFrom: KEPT_FROM })
    const stopped = finishInterruptedWork(breakAfter(store.writer, count))
    const error: unknown = await stopped.catch((thrown: unknown) => thrown)
    isDone = error === undefined
    if (!isDone) expect(error).toBeInstanceOf(BrokenError)
    // Kept days are counted as before, even while the rest is half deleted.
    expect(await answerAll(project)).toEqual(before)
    await store.writer.execute(statement(sql`OPTIMIZE TABLE users_monthly FINAL`))
    await finishInterruptedWork(store.writer)
    expect({ count, faults: await findFaults(project) }).toEqual({ count, faults: NO_FAULTS })
    expect(await answerAll(project)).toEqual(before)
  }
  expect(isDone).toBe(true)
})

async function countEvents({ id }: StoredProject): Promise<number> {
  const [row] = await select<{ events: number }>(
    database.store,
    sql`SELECT count() AS events FROM events WHERE project_id = ${string(id)}`,
  )
  return row?.events ?? 0
}

test.each([
  /DELETE FROM users_daily /,
  /DELETE FROM users_monthly WHERE generation /,
  /DELETE FROM sessions_monthly /,
  /DELETE FROM sessions /,
  /DELETE FROM events /,
])(
  'an expiration that is suspended at %s, and resumes after it was finished, keeps what was loaded since',
  async (moment) => {
    const { store } = database
    const project = await newProject(store)
    const old = ['2025-12-10T10:00:00Z', '2026-01-16T10:00:00Z', '2026-01-18T10:00:00Z'].map(
      (timestamp) => ({ timestamp, user_id: 'old' }),
    )
    await send(store, project, old)
    await startExpiration(store.writer, { projectId: project.id, keptFrom: KEPT_FROM })
    const finishAndLoad = async (): Promise<void> => {
      await finishInterruptedWork(store.writer)
      await send(store, project, old)
    }
    const suspended = pauseBefore(store.writer, moment, finishAndLoad)
    // Before it sends another statement, it notices that it has lost the lease.
    await expect(finishInterruptedWork(breakAfter(suspended, moment))).rejects.toThrow(BrokenError)
    expect(await countEvents(project)).toBe(4)
    const { differences } = await checkRollups(store.writer, { projectId: project.id })
    expect(differences).toEqual([])
  },
)
