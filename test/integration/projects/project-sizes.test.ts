/** How much data a project has, as the planner estimates costs by it. */
import { beforeAll, expect, test } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { createSizesReader, readProjectSizes } from '../../../src/projects/project-sizes.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { withDatabase } from '../../support/store/database.js'
import { createWorld, newProject, NOW } from '../../support/world/world.js'

const database = withDatabase()
let project: StoredProject
beforeAll(async () => {
  const view = (day: string, path: string, properties = {}) => ({
    timestamp: `${day}T10:00:00Z`,
    user_id: 'u1',
    path,
    country: 'DE',
    properties,
  })
  project = await createWorld(database.store, [
    view('2026-01-05', '/'),
    view('2026-03-31', '/'),
    view('2026-04-01', '/a', { plan: 'pro' }),
    view('2026-04-02', '/b', { plan: 'free' }),
    view('2026-04-03', '/b', { plan: 'pro' }),
  ])
  await createWorld(database.store, [view('2026-02-01', '/')])
})

test('the totals of each month, and the number of values in the last months with data', async () => {
  const { readAt, months, values } = await readProjectSizes(database.store.reader, project.id, NOW)
  const byMonth = [...months].sort((one, other) => one.month.getTime() - other.month.getTime())
  expect({ readAt, byMonth }).toEqual({
    readAt: NOW,
    byMonth: [
      { month: new Date('2026-01-01'), events: 1, visits: 1 },
      { month: new Date('2026-03-01'), events: 1, visits: 1 },
      { month: new Date('2026-04-01'), events: 3, visits: 3 },
    ],
  })
  expect(
    ['total', 'country', 'page:path', 'event:prop:plan'].map((name) => values.get(name)),
  ).toEqual([1, expect.any(Number), expect.any(Number), 2])
})

test('a project without events', async () => {
  const { id } = await newProject(database.store)
  expect(await readProjectSizes(database.store.reader, id, NOW)).toEqual({
    readAt: NOW,
    months: [],
    values: new Map(),
  })
})

/** Counts the statements, and fails or hangs if told to. */
function watch(query: (real: Connection['query']) => Connection['query']) {
  let count = 0
  const { reader } = database.store
  const watched = {
    ...reader,
    query: ((...args: Parameters<Connection['query']>) => {
      count += 1
      return query((...real) => reader.query(...real))(...args)
    }) as Connection['query'],
  }
  return { readSizes: createSizesReader(watched, () => NOW), count: () => count }
}

/** Reads until there is a value. */
async function waitFor<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await read()
    if (value !== undefined) return value
  }
}

test('sizes are remembered, and queries at the same time share one statement', async () => {
  const { readSizes, count } = watch((real) => real)
  const asked = await Promise.all([readSizes(project.id), readSizes(project.id)])
  // On a busy machine the statement may take longer than queries wait for it.
  const one = await waitFor(() => readSizes(project.id))
  expect(await readSizes(project.id)).toBe(one)
  for (const sizes of asked) expect(sizes ?? one).toBe(one)
  expect({ count: count(), months: one.months.length }).toEqual({ count: 1, months: 3 })
})

test.each<[string, Connection['query']]>([
  ['fails', () => Promise.reject(new Error('away'))],
  ['hangs', () => new Promise(() => undefined)],
])('a store that %s leaves sizes unknown', async (_how, query) => {
  const { readSizes } = watch(() => query)
  expect(await readSizes(project.id)).toBeUndefined()
})
