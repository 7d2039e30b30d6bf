/** A load that stops after any statement is finished by the next loader, and nothing is counted twice. */
import { expect, test } from '@jest/globals'
import { LeaseLostError } from '../../../../src/clickhouse/lease/lease.js'
import { sql, statement, string } from '../../../../src/clickhouse/sql.js'
import { fenceConnection } from '../../../../src/clickhouse/connection-wrappers.js'
import { insertBatch } from '../../../../src/ingest/inbox/batches.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { isSampled, thoroughTest } from '../../../support/effort.js'
import {
  breakAfter,
  BrokenError,
  noteStatements,
  pauseBefore,
} from '../../../support/store/breaking.js'
import { withDatabase } from '../../../support/store/database.js'
import {
  expectConsistentFacts,
  listLeftovers,
  readFacts,
  select,
} from '../../../support/store/facts.js'
import { ARRIVAL, newProject, send } from '../../../support/world/world.js'
import {
  checkRollups,
  importEvents,
  loadBatch,
  resumeLoads,
} from '../../../support/store/loading.js'

const database = withDatabase()

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const at = (time: string, fields: object): object => ({
  timestamp: `2026-01-${time}Z`,
  user_id: 'u',
  ...fields,
})

/** Events that are stored before: two sessions of one user, in the partitions of two months, and a known event id. */
const BEFORE = [
  at('31T23:30:00', { path: '/a', utm_source: 'mail', event_id: 'known' }),
  { ...at('', {}), timestamp: '2026-02-01T00:20:00Z', path: '/b', utm_source: 'ads' },
] as const

/** The batch whose load is interrupted: every table of the load gets rows, and sessions are joined. */
const BATCH = [
  { ...at('', {}), timestamp: '2026-02-01T00:00:00Z', path: '/late', properties: { plan: 'pro' } },
  at('31T23:10:00', { path: '/first', utm_source: 'search' }),
  at('31T12:00:00', { path: '/known', event_id: 'known' }),
  at('31T12:00:00', { path: '/new', event_id: 'new', user_id: 'v' }),
  at('31T12:01:00', { path: '/new', event_id: 'new', user_id: 'v' }),
  at('31T13:00:00', { path: '/given', session_id: 's' }),
  at('31T13:00:00', { path: '/excluded', ip: '10.0.0.1' }),
  at('31T14:00:00', {
    path: '/derived',
    user_id: null,
    ip: '10.0.0.2',
    user_agent: FIREFOX,
    referrer_url: 'https://www.google.com/',
  }),
  at('31T15:00:00', { path: '/bot', user_agent: 'Googlebot/2.1' }),
  at('32T00:00:00', { path: '/bad' }),
]
const COUNTS = { received: 10, events: 5, duplicates: 2, bots: 1, excluded: 1, rejected: 1 }
const REPORT = {
  ...COUNTS,
  first: new Date('2026-01-31T12:00:00Z'),
  last: new Date('2026-02-01T00:00:00Z'),
}

async function makeProjects(count: number): Promise<StoredProject[]> {
  const projects: StoredProject[] = []
  while (projects.length < count) {
    projects.push(await newProject(database.store, { excludedIps: ['10.0.0.1'] }))
  }
  const events = projects.flatMap(({ id }) => BEFORE.map((event) => ({ ...event, project: id })))
  await send(database.store, { id: '' }, events as never)
  return projects
}

const makeProject = async (): Promise<StoredProject> => (await makeProjects(1))[0]!

const put = (project: StoredProject, batch: string, strict = false): Promise<void> =>
  insertBatch(database.store.writer, {
    now: ARRIVAL,
    strict,
    batch,
    projectId: project.id,
    firstRow: 1,
    bytes: Buffer.from(BATCH.map((event) => JSON.stringify(event)).join('\n')),
  })

/** Reads everything that a batch affects, except generated user ids, which depend on the project. */
async function outcome(project: StoredProject, batch: string): Promise<unknown> {
  const { store } = database
  await expectConsistentFacts(store, project.id)
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
SELECT step, received, events, duplicates, bots, excluded, rejected
FROM loads FINAL WHERE batch = ${string(batch)} AND step != 4`,
    ),
    rejections: await select(
      store,
      sql`SELECT row, reason FROM rejections WHERE batch = ${string(batch)}`,
    ),
    usage: await select(
      store,
      sql`
SELECT reason, sum(events) AS rows FROM usage
WHERE project_id = ${string(project.id)} GROUP BY ALL ORDER BY reason`,
    ),
    leftovers: await listLeftovers(store),
  }
}

const DONE = {
  users: [{ n: 3 }],
  ids: [{ n: 2 }],
  loads: [{ step: 3, ...COUNTS }],
  // With the two events that were there before.
  usage: [
    { reason: '', rows: 7 },
    { reason: 'bot', rows: 1 },
    { reason: 'ip', rows: 1 },
    { reason: 'repeated', rows: 2 },
    { reason: 'timestamp', rows: 1 },
  ],
  rejections: [{ row: 10, reason: expect.stringMatching(/^timestamp: must be ISO 8601/) }],
  leftovers: [],
}

test('a load that stops after any statement is finished by the next loader', async () => {
  const { writer } = database.store
  const calm = await makeProject()
  await put(calm, 'calm')
  const noted = noteStatements(writer)
  expect(await loadBatch(noted.connection, 'calm')).toEqual(REPORT)
  const places = noted.listPlaces(/INSERT INTO users\b/)
  const counts = places.filter((_, i) => i === places.length - 1 || isSampled(i + 1, 10))
  const projects = await makeProjects(counts.length)
  const wanted = await outcome(calm, 'calm')
  expect(wanted).toMatchObject(DONE)

  let isDone = false
  for (const [i, count] of counts.entries()) {
    if (isDone) break
    const project = projects[i]!
    const batch = `stopped-${count}`
    await put(project, batch)
    try {
      await loadBatch(breakAfter(writer, count), batch)
      isDone = true
      expect(count).toBeGreaterThan(35)
    } catch (error) {
      if (!(error instanceof BrokenError)) throw error
    }
    await resumeLoads(writer)
    expect({ count, ...((await outcome(project, batch)) as object) }).toEqual({
      count,
      ...(wanted as object),
    })
    expect(await loadBatch(writer, batch)).toEqual(REPORT)
  }
  expect(isDone).toBe(true)
})

thoroughTest(
  'a suspended loader that resumes after another one finished its load adds nothing',
  async () => {
    const { writer } = database.store
    const moments = [5, 9, 13, 16, 18, 20, 22, 24, 26, 28, 30, 32]
    const [calm, ...projects] = (await makeProjects(moments.length + 1)) as [
      StoredProject,
      ...StoredProject[],
    ]
    await put(calm, 'awake')
    await loadBatch(writer, 'awake')
    const wanted = await outcome(calm, 'awake')

    for (const [i, moment] of moments.entries()) {
      const batch = `suspended-${moment}`
      await put(projects[i]!, batch)
      const suspended = pauseBefore(writer, moment, async () => {
        await resumeLoads(writer)
      })
      // Its tables may have been dropped, or it may have nothing left to do.
      await loadBatch(suspended, batch).catch(() => undefined)
      await resumeLoads(writer)
      expect({ moment, ...((await outcome(projects[i]!, batch)) as object) }).toEqual({
        moment,
        ...(wanted as object),
      })
    }
  },
)

thoroughTest('a load that stops again and again while it is resumed is finished', async () => {
  const { writer } = database.store
  const project = await makeProject()
  await put(project, 'again')
  const tries: unknown[] = []
  for (let count = 1; tries.at(-1) !== 'done'; count += 2) {
    const resumed = resumeLoads(breakAfter(writer, count))
    tries.push(await resumed.then(() => 'done').catch((error: unknown) => (error as Error).name))
  }
  expect(tries.length).toBeGreaterThan(5)
  expect(await outcome(project, 'again')).toMatchObject(DONE)
})

thoroughTest(
  'an unfinished load of another loader is finished between two chunks of an import',
  async () => {
    const { store } = database
    const [left, going] = [await makeProject(), await newProject(store)]
    const line = (path: string): Buffer =>
      Buffer.from(`${JSON.stringify(at('31T10:00:00', { path }))}\n`)
    async function* source(): AsyncGenerator<Buffer> {
      yield await Promise.resolve(Buffer.from('rejected\n'))
      yield line('/1')
    }
    const report = await importEvents(store, source(), {
      now: ARRIVAL,
      projectId: going.id,
      chunkSize: 70,
      // Between the first chunk and the second.
      onRejected: async () => {
        await put(left, 'left')
        const broken = loadBatch(breakAfter(store.writer, /INSERT INTO events/), 'left')
        await expect(broken).rejects.toBeInstanceOf(BrokenError)
      },
    })
    expect(report).toMatchObject({ received: 2, events: 1, rejected: 1, users: 1, sessions: 1 })
    expect(await outcome(left, 'left')).toMatchObject(DONE)
    await expectConsistentFacts(store, going.id)
  },
)

thoroughTest('two concurrent imports load all their chunks, each once', async () => {
  const { store } = database
  const project = await newProject(store)
  const rows = async function* (from: number): AsyncGenerator<Buffer> {
    for (let n = from; n < from + 5; n += 1) {
      yield await Promise.resolve(
        Buffer.from(`${JSON.stringify(at(`31T10:0${n % 10}:00`, { event_id: `e${n}` }))}\n`),
      )
    }
  }
  const options = {
    now: ARRIVAL,
    projectId: project.id,
    chunkSize: 70,
    onRejected: () => undefined,
  }
  const reports = await Promise.all([0, 3].map((from) => importEvents(store, rows(from), options)))
  expect(reports.map(({ received }) => received)).toEqual([5, 5])
  expect(reports.map(({ events }) => events).reduce((a, b) => a + b)).toBe(8)
  await expectConsistentFacts(store, project.id)
  expect((await readFacts(store, project.id)).map(({ pageviews }) => pageviews)).toEqual([8])
  expect(await listLeftovers(store)).toEqual([])
})

test('a strict batch is loaded whole or not at all, whichever loader finishes it', async () => {
  const { store } = database
  const project = await makeProject()
  const before = await readFacts(store, project.id)
  await put(project, 'strict', true)
  const broken = loadBatch(breakAfter(store.writer, /AS seq, row, batch/), 'strict')
  await expect(broken).rejects.toBeInstanceOf(BrokenError)
  await resumeLoads(store.writer)
  expect(await readFacts(store, project.id)).toEqual(before)
  expect(await outcome(project, 'strict')).toMatchObject({
    ...DONE,
    users: [{ n: 1 }],
    ids: [{ n: 1 }],
    loads: [{ step: 3, received: 10, events: 0, duplicates: 0, bots: 0, excluded: 1, rejected: 1 }],
    usage: [{ reason: '', rows: 2 }],
  })
})

test('a loader that has lost its lease sends no more statements', async () => {
  const lost = new AbortController()
  const holder = fenceConnection(database.store.writer, lost.signal)
  const ask = (): Promise<unknown> => holder.query(statement(sql`SELECT 1`))
  await expect(ask()).resolves.toMatchObject({ total: 1 })
  lost.abort(new LeaseLostError('lost'))
  await expect(ask()).rejects.toBeInstanceOf(LeaseLostError)
  await expect(loadBatch(holder, 'any')).rejects.toBeInstanceOf(LeaseLostError)
})

test('after all these cases the rollups agree with the events', async () => {
  expect(await checkRollups(database.store.writer, {})).toEqual({
    months: 2,
    groups: expect.any(Number),
    different: 0,
    differences: [],
  })
})
