/** Rejected rows of repeated imports: reported each time, and loaded once when they are valid. */
import { expect, test } from '@jest/globals'
import { sql } from '../../../../src/clickhouse/sql.js'
import { createProject } from '../../../../src/projects/store.js'
import { breakAfter, BrokenError } from '../../../support/store/breaking.js'
import { withDatabase } from '../../../support/store/database.js'
import {
  expectConsistentFacts,
  listLeftovers,
  readFacts,
  select,
} from '../../../support/store/facts.js'
import { importLines, toLines, type ImportOutcome } from '../../../support/sources/sources.js'
import { ARRIVAL, newProject } from '../../../support/world/world.js'

const database = withDatabase()

const event = (project: string, n: number): object => ({
  timestamp: `2026-01-31T10:${10 + n}:00Z`,
  user_id: 'u',
  project,
})
const summarize = ({ report, rejections }: ImportOutcome) => ({
  rows: rejections.map(({ row }) => row),
  events: report.events,
  duplicates: report.duplicates,
  rejected: report.rejected,
  received: report.received,
})
const pageviews = async (id: string): Promise<readonly number[]> =>
  (await readFacts(database.store, id)).map((fact) => Number(fact['pageviews']))

test.each([100, 10_000])(
  'in chunks of %d bytes, rows are loaded once they are valid',
  async (chunkSize) => {
    const { store } = database
    const { id } = await newProject(store)
    const later = [`${id}-1`, `${id}-2`] as const
    const rows = [event(id, 0), event(later[0], 1), event(later[1], 2), 'bad', event(id, 3)]
    const run = async () =>
      summarize(await importLines(store, toLines(rows), { chunkSize: Math.max(chunkSize, 110) }))
    const make = (project: string) =>
      createProject(store, { id: project, name: 'T', domain: 'example.com' }, ARRIVAL)
    expect(await run()).toEqual({
      rows: [2, 3, 4],
      events: 2,
      duplicates: 0,
      rejected: 3,
      received: 5,
    })
    expect(await run()).toEqual({
      rows: [2, 3, 4],
      events: 0,
      duplicates: 2,
      rejected: 3,
      received: 5,
    })
    await make(later[0])
    expect(await run()).toEqual({
      rows: [3, 4],
      events: 1,
      duplicates: 2,
      rejected: 2,
      received: 5,
    })
    expect(await run()).toEqual({
      rows: [3, 4],
      events: 0,
      duplicates: 3,
      rejected: 2,
      received: 5,
    })
    await make(later[1])
    expect(await run()).toEqual({ rows: [4], events: 1, duplicates: 3, rejected: 1, received: 5 })
    expect(await run()).toEqual({ rows: [4], events: 0, duplicates: 4, rejected: 1, received: 5 })
    expect(await Promise.all([id, ...later].map(pageviews))).toEqual([[2], [1], [1]])
    for (const project of [id, ...later]) await expectConsistentFacts(store, project)
    expect(await listLeftovers(store)).toEqual([])
  },
)

test('a chunk that --strict rejected is rejected again, and loaded without --strict', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const text = toLines([event(id, 0), event(id, 1), event(id, 2), 'bad', event(id, 3)])
  const size = 2 * toLines([event(id, 0)]).length
  const run = async (strict: boolean) =>
    summarize(await importLines(store, text, { chunkSize: size, strict }))
  const refused = { rows: [4], rejected: 1, received: 4 }
  expect(await run(true)).toEqual({ ...refused, events: 2, duplicates: 0 })
  expect(await pageviews(id)).toEqual([2])
  expect(await run(true)).toEqual({ ...refused, events: 0, duplicates: 2 })
  expect(await pageviews(id)).toEqual([2])
  expect(await run(false)).toEqual({ ...refused, events: 2, duplicates: 2, received: 5 })
  expect(await pageviews(id)).toEqual([4])
  expect(await run(true)).toEqual({ ...refused, events: 0, duplicates: 3 })
})

test('sources of equal length are distinguished', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const bad = 'bad'.padEnd(JSON.stringify(event(id, 0)).length, '!')
  const sources = [
    [event(id, 0), bad],
    [event(id, 1), event(id, 2)],
    [bad, event(id, 3)],
  ]
  const run = async () => {
    const counts: unknown[] = []
    for (const rows of sources) {
      const {
        rows: rejected,
        events,
        duplicates,
      } = summarize(await importLines(store, toLines(rows)))
      counts.push([rejected, events, duplicates])
    }
    return counts
  }
  const want = [
    [[2], 1],
    [[], 2],
    [[1], 1],
  ]
  expect(await run()).toEqual(want.map((one) => [...one, 0]))
  for (let n = 0; n < 2; n += 1) {
    expect(await run()).toEqual(want.map(([rows, events]) => [rows, 0, events]))
  }
  expect(await pageviews(id)).toEqual([4])
})

test('two concurrent imports of one source load it once', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const text = toLines(Array.from({ length: 8 }, (_, n) => event(id, n)))
  const both = await Promise.all([1, 2].map(() => importLines(store, text, { chunkSize: 250 })))
  expect(both.map(({ report }) => report.received)).toEqual([8, 8])
  expect(both.reduce((sum, { report }) => sum + report.events, 0)).toBe(8)
  expect(await pageviews(id)).toEqual([8])
  expect(await listLeftovers(store)).toEqual([])
})

test('the report counts users and sessions of chunks that an earlier run loaded', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const rows = ['u', 'v', 'u', 'v', 'w'].map((user_id, n) => ({ ...event(id, n * 8), user_id }))
  const late = { ...event(id, 35), user_id: 'u' }
  const want = { users: 3, sessions: 3 }
  const times = {
    first: new Date('2026-01-31T10:10:00Z'),
    last: new Date('2026-01-31T10:42:00Z'),
  }
  for (const events of [5, 0]) {
    const { report } = await importLines(store, toLines(rows), { chunkSize: 250 })
    expect(report).toMatchObject({ events, ...want, ...times })
  }
  const grown = await importLines(store, toLines([...rows, late]), { chunkSize: 250 })
  expect(grown.report).toMatchObject({
    ...{ events: 1, duplicates: 5, ...want },
    ...{ first: times.first, last: new Date('2026-01-31T10:45:00Z') },
  })
})

test('the report counts users and sessions that a later load changed', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const text = toLines([event(id, 0), event(id, 5)])
  const want = { received: 2, users: 1, sessions: 1 }
  expect((await importLines(store, text)).report).toMatchObject({ ...want, events: 2 })
  // Earlier events change the attributes of their session.
  const earlier = { ...event(id, 0), timestamp: '2026-01-31T10:00:00Z', utm_source: 'mail' }
  expect((await importLines(store, toLines([earlier]))).report).toMatchObject({
    events: 1,
    sessions: 1,
  })
  expect((await importLines(store, text)).report).toMatchObject({ ...want, duplicates: 2 })
})

test('rejected rows are stored without their text, and reported with it', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const texts = [
    `{"project":"${id}","ip":"203.0.113.7"}`,
    'not JSON, from 203.0.113.8 \u00e9\r',
    "{'ip': '203.0.113.9'}",
  ]
  const source = toLines([event(id, 0), texts[0]!, '', texts[1]!, event(id, 1), texts[2]!])
  const broken = {
    ...store,
    writer: breakAfter(store.writer, /FROM rejections/),
  }
  await expect(importLines(broken, source)).rejects.toBeInstanceOf(BrokenError)
  expect(
    await select(
      store,
      sql`SELECT row, reason, line FROM rejections WHERE batch LIKE 'import-%' ORDER BY row`,
    ),
  ).toEqual([
    { row: 2, reason: 'timestamp: is required', line: '' },
    { row: 4, reason: 'is not valid JSON', line: '' },
    { row: 6, reason: 'is not valid JSON', line: '' },
  ])
  const { rejections } = await importLines(store, source)
  expect(rejections).toEqual([
    { row: 2, reason: 'timestamp: is required', line: texts[0] },
    { row: 4, reason: 'is not valid JSON', line: texts[1] },
    { row: 6, reason: 'is not valid JSON', line: texts[2] },
  ])
})
