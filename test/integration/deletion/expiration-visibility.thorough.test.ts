/** What queries see while an expiration runs, and how many statements it takes. */
import { expect, test } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { startExpiration } from '../../../src/deletion/expiration-journal.js'
import { addDays } from '../../../src/lib/time.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { findProject, markCut } from '../../../src/projects/store.js'
import { withDatabase } from '../../support/store/database.js'
import { checkRollups, finishInterruptedWork } from '../../support/store/loading.js'
import { newProject, runQuery, send, type PartialRequest } from '../../support/world/world.js'

const NOW = new Date('2026-02-11T15:00:00Z')
/** In the midst of a month. */
const KEPT_FROM = '2026-01-17'

const database = withDatabase()

/** Creates a project with 60 events up to NOW, whose expired days lie in this number of months. */
async function createProject(months: number): Promise<StoredProject> {
  const project = await newProject(database.store)
  const old = new Date('2026-01-16T10:00:00Z')
  const events = Array.from({ length: 60 }, (_, i) => ({
    timestamp: (i % 2 === 0
      ? addDays(NOW, -i / 3)
      : addDays(old, -30.4 * ((i >> 1) % months))
    ).toISOString(),
    // Some come on both sides, and some on one.
    user_id: `u${i % 2 === 0 ? i % 14 : i % 21}`,
    name: i % 5 === 0 ? 'signup' : 'pageview',
    path: `/${i % 4}`,
    country: ['DE', 'FR', 'AT'][i % 3]!,
  }))
  await send(database.store, project, events)
  await markCut(database.store.writer, project.id)
  await startExpiration(database.store.writer, { projectId: project.id, keptFrom: KEPT_FROM })
  return project
}

/** Returns a connection that calls back after each statement that it has executed. */
function watchStatements(
  connection: Connection,
  onStatement: (text: string) => Promise<void>,
): Connection {
  return {
    ...connection,
    query: async (statement, options) => {
      const result = await connection.query(statement, options)
      await onStatement(statement.query)
      return result as never
    },
    execute: async (statement, ...options) => {
      await connection.execute(statement, ...options)
      await onStatement(statement.query)
    },
  }
}

async function countStatements(): Promise<number> {
  let count = 0
  const counted = watchStatements(database.store.writer, () => {
    count += 1
    return Promise.resolve()
  })
  await finishInterruptedWork(counted)
  return count
}

test('an expiration of many months takes as many statements as one of two', async () => {
  await createProject(2)
  const ofTwo = await countStatements()
  await createProject(12)
  expect(await countStatements()).toBe(ofTwo)
})

const METRICS = ['users', 'new_users', 'pageviews', 'events', 'visits'] as const
const QUERIES: readonly PartialRequest[] = [
  { date_range: 'all' },
  { date_range: ['2023-01-01', '2026-02-11'] },
  { date_range: ['2026-01-01', '2026-02-11'], group_by: ['country'] },
  { date_range: ['2025-11-05T10:00:00Z', '2026-02-11T12:00:00Z'], group_by: ['page:path'] },
  { date_range: ['2023-01-01', '2026-02-11'], group_by: ['interval:month'] },
  {
    date_range: ['2023-01-01', '2026-02-11'],
    filters: [{ type: 'browser', operator: 'noneOf', value: ['Opera'] }],
  },
].map((query) => ({ ...query, metrics: [...METRICS], order_by: [] }) as PartialRequest)
const OF_KEPT_DAYS: PartialRequest = {
  date_range: [KEPT_FROM, '2026-02-11'],
  metrics: METRICS.filter((metric) => metric !== 'new_users'),
  group_by: ['country'],
}

type Numbers = Readonly<Record<(typeof METRICS)[number], number>>

test('while an expiration runs, kept days count as before, and no answer has more new users than users', async () => {
  const { store } = database
  const { id } = await createProject(6)
  const project = (await findProject(store.reader, id))!
  const ask = async (query: PartialRequest): Promise<readonly Numbers[]> => {
    const { data } = await runQuery(store, project, query, NOW)
    return data.map(({ metrics }) => metrics as unknown as Numbers)
  }
  const before = await ask(OF_KEPT_DAYS)
  const faults: unknown[] = []
  const look = async (text: string): Promise<void> => {
    // Other statements change nothing that queries read: the names of temporary tables are parameters.
    if (!/^\s*(DELETE FROM|INSERT INTO) [a-z]/.test(text)) return
    const when = text.trim().slice(0, 60)
    const kept = await ask(OF_KEPT_DAYS)
    if (JSON.stringify(kept) !== JSON.stringify(before)) faults.push({ when, kept })
    for (const query of QUERIES) {
      const wrong = (await ask(query)).filter(({ users, new_users: fresh }) => fresh > users)
      if (wrong.length > 0) faults.push({ when, query, wrong })
    }
  }
  await finishInterruptedWork(watchStatements(store.writer, look))
  expect(faults).toEqual([])
  const { differences } = await checkRollups(store.writer, { projectId: id })
  expect(differences).toEqual([])
})
