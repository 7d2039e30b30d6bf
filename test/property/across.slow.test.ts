/** The law of queries across projects: each row is that of the same query about the project alone. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { ACROSS_RULES, MAX_PROJECTS } from '../../src/analytics/across/rules.js'
import { applyRules } from '../../src/analytics/request/cross-field-rules.js'
import type { Plan } from '../../src/analytics/plan/plan.js'
import type { AcrossResponse } from '../../src/contract/across-projects.js'
import type { Filter } from '../../src/contract/api.js'
import { ApiError } from '../../src/contract/errors.js'
import { sql, statement, string, type Sql } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import type { StoredProject } from '../../src/projects/project.js'
import { fillAcross, runAcross } from '../support/world/across.js'
import { acrossRequest, expectEachAlone } from '../support/world/across-law.js'
import { rollupEvent } from '../support/arbitrary/rollups.js'
import { scaled } from '../support/effort.js'
import { rebuildRollups } from '../support/store/loading.js'
import { withDatabase } from '../support/store/database.js'
import { newProject, runQuery, send } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
/** A pattern that only the engine refuses. */
const PATTERN = { type: 'page', path: { operator: 'matches', value: '\\p{Cn}' } } as const
const QUESTIONS = scaled(4)
const BATCHES = 2

const database = withDatabase()
let projects: readonly StoredProject[] = []

// The later batches have events that are older than some of the earlier ones.
beforeAll(async () => {
  const { store } = database
  const limits = [{}, {}, {}, { keepDays: 10_000 }, { retentionDays: 850 }]
  const filled = await Promise.all(limits.map((fields) => newProject(store, fields)))
  const batch = fc.array(rollupEvent, { minLength: 10, maxLength: 60, size: 'max' })
  for (let n = 0; n < BATCHES; n += 1) {
    const sent = fc.sample(batch, { seed: SEED + n, numRuns: filled.length })
    const events = filled.flatMap(({ id }, i) => sent[i]!.map((one) => ({ ...one, project: id })))
    await send(store, { id: '' }, events)
  }
  const twin = await newProject(store)
  await copyProject(store, filled[0]!.id, twin.id)
  projects = [...filled, await newProject(store), twin]
})

/** Copies some sessions of a project to another one, with their numbers but other paths, as if they had come from another shard. */
async function copyProject({ admin, writer }: Store, from: string, to: string): Promise<void> {
  const own = sql`WHERE project_id = ${string(from)} AND user % 2 = 0`
  const project = sql`${string(to)} AS project_id`
  const move = (column: Sql): Sql => sql`replaceAll(${column}, 'a', 'b') AS ${column}`
  for (const copy of [
    sql`INSERT INTO events SELECT * REPLACE (${project}, ${move(sql`path`)}) FROM (SELECT * FROM events ${own})`,
    sql`INSERT INTO sessions SELECT * REPLACE (${project}, ${move(sql`entry_path`)}, ${move(sql`exit_path`)}) FROM (SELECT * FROM sessions ${own})`,
  ]) {
    await admin.execute(statement(copy))
  }
  await rebuildRollups(writer, {})
}

test('each row is that of the query about the project alone', async () => {
  const { store } = database
  const counted: number[] = []
  await fc.assert(
    fc.asyncProperty(
      acrossRequest,
      fc.subarray([0, 1, 2, 3, 4, 5, 6], { minLength: 3 }),
      async (asked, chosen) => {
        const some = chosen.map((i) => projects[i]!)
        const response = await runAcross(store, some, asked)
        await expectEachAlone(response, some, asked, (project, request) =>
          runQuery(store, project, request),
        )
        counted.push(...response.data.map(countEvents))
      },
    ),
    { seed: SEED, numRuns: QUESTIONS, endOnFailure: true },
  )
  // Empty rows prove nothing.
  expect(counted.filter((count) => count > 0).length / counted.length).toBeGreaterThan(0.1)
})

const countEvents = (row: AcrossResponse['data'][number]): number =>
  'metrics' in row ? Math.max(...Object.values(row.metrics).map(Number)) : 0

test('projects are read by one statement', async () => {
  const plans: Plan[] = []
  const asked = fillAcross({
    date_range: ['2024-01-01', '2024-02-29'],
    metrics: ['users', 'visits'],
  })
  const ids = projects.slice(0, 3)
  await runAcross(database.store, ids, asked, (plan) => plans.push(plan))
  expect(
    plans.map(({ query, scans }) => [query.projectIds, scans.map(({ relation }) => relation)]),
  ).toEqual([[ids.map(({ id }) => id), ['sessions_monthly', 'users_monthly']]])
})

const PAGE: Filter = { type: 'page', path: { operator: 'eq', value: '/a' } }

test.each<[string, Filter, number]>([
  ['an attribute', { type: 'browser', operator: 'oneOf', value: ['Firefox'] }, 1],
  ['a page', PAGE, 1],
  ['the exit page', { field: 'page:exit', operator: 'is', value: ['/a'] }, 1],
  ['pages of the visit, alone where days expire', { type: 'visit', filters: [PAGE] }, 2],
])('visits filtered by %s', async (_by, one, count) => {
  const plans: Plan[] = []
  const asked = fillAcross({
    date_range: ['2024-01-01', '2024-01-20'],
    metrics: ['visits', 'users'],
    filters: [one],
  })
  const { store } = database
  const response = await runAcross(store, projects, asked, (plan) => plans.push(plan))
  expect(plans).toHaveLength(count)
  await expectEachAlone(response, projects, asked, (project, request) =>
    runQuery(store, project, request),
  )
})

test('as many projects as a request may name, with the longest ids', async () => {
  const many = Array.from({ length: MAX_PROJECTS }, (_, i) => ({
    ...projects[0]!,
    id: `${i}`.padStart(64, '-'),
  }))
  const asked = fillAcross({ date_range: '12months', compare: 'previous_year', interval: 'month' })
  const { data } = await runAcross(database.store, many, { ...asked, limit: MAX_PROJECTS })
  expect(data).toHaveLength(MAX_PROJECTS)
})

test('pages of the order, with the projects that are refused last', async () => {
  const asked = fillAcross({ date_range: ['2024-01-01', '2024-03-31'], metrics: ['events'] })
  const limited = projects[4]!
  const all = await runAcross(database.store, projects, asked)
  expect(all.pagination).toEqual({ limit: 100, offset: 0, returned: 7, total: 7 })
  expect(all.data.at(-1)).toEqual({
    project: limited.id,
    error: {
      code: 'PLAN_LIMIT_EXCEEDED',
      message: expect.stringContaining('Choose a later start.'),
      docs: '/docs/errors#plan_limit_exceeded',
    },
  })
  const pages = await Promise.all(
    [0, 2, 4, 6, 8].map((offset) =>
      runAcross(database.store, projects, { ...asked, limit: 2, offset }),
    ),
  )
  expect(pages.flatMap(({ data }) => data)).toEqual(all.data)
})

describe('bad requests', () => {
  test.each([
    [{ projects: ['a', 'b', 'a'] }, 'projects.2', 'must not repeat "a"'],
    [{ projects: ['a'], org: 'b' }, 'org', 'must not be sent with projects'],
    [{ order_by: [['visits', 'asc']] }, 'order_by.0.0', 'one of: users, project'],
    [{ time_zone: 'Europe/Atlantis' }, 'time_zone', 'must be the name of a time zone'],
    [{ date_range: ['2024-02-01', '2024-01-01'] }, 'date_range', 'must not start after its end'],
    [{ compare: ['2024-02-01', '2024-01-01'] }, 'compare', 'must not start after its end'],
    [{ compare_align: 'weekday' }, 'compare_align', 'needs compare'],
  ] as const)('%j', (fields, field, message) => {
    const request = fillAcross({ date_range: '30days', metrics: ['users'], ...fields })
    expect(applyRules(ACROSS_RULES, request, new Set())).toEqual([
      { field, message: expect.stringContaining(message) },
    ])
  })

  test('too many projects', () => {
    const ids = Array.from({ length: MAX_PROJECTS + 1 }, (_, i) => `p${i}`)
    const request = fillAcross({ date_range: '30days', projects: ids })
    expect(applyRules(ACROSS_RULES, request, new Set())).toEqual([
      { field: 'projects', message: 'must have at most 1000 ids' },
    ])
  })

  test.each([
    [{ date_range: ['1990-01-01', '2024-12-31'], interval: 'day' }, 'interval'],
    [{ date_range: ['1997-12-01', '2024-12-31'], interval: 'day', limit: 1000 }, 'limit'],
    [{ date_range: ['2024-01-01', '2024-03-31'], filters: [PATTERN] }, 'filters.0.path.value'],
  ] as const)('%j, once it is resolved', async (fields, field) => {
    const many = [...projects, ...projects]
    const refused = runAcross(database.store, many, fillAcross(fields))
    await expect(refused).rejects.toThrow(ApiError)
    await expect(refused).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ field }],
    })
  })
})
