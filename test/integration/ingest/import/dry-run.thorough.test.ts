/** Dry runs report what an import would do, and leave nothing. */
import { expect, test } from '@jest/globals'
import { identifier, sql } from '../../../../src/clickhouse/sql.js'
import type { LoadReport } from '../../../../src/ingest/loader/load-report.js'
import { withDatabase } from '../../../support/store/database.js'
import { listLeftovers, select } from '../../../support/store/facts.js'
import { createGeoip } from '../../../support/geoip/geography.js'
import { importLines, splitIntoChunks, toLines } from '../../../support/sources/sources.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

/** Enrichment tables are filled by dry runs too, and leases come and go. */
const UNCOUNTED = /^(agents|referrers|lease_.*)$/

/** Counts the rows of each table. */
async function counts(): Promise<Readonly<Record<string, number>>> {
  const tables = await select<{ name: string }>(
    database.store,
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine != 'MaterializedView' ORDER BY name`,
  )
  const counted: Record<string, number> = {}
  for (const { name } of tables.filter(({ name }) => !UNCOUNTED.test(name))) {
    const [row] = await select<{ n: number }>(
      database.store,
      sql`SELECT count() AS n FROM ${identifier(name)}`,
    )
    counted[name] = row!.n
  }
  return counted
}

const at = (time: string, fields: object = {}): object => ({
  timestamp: `2026-01-31T${time}:00Z`,
  user_id: 'u',
  ...fields,
})

const RULES = { excludedIps: ['192.0.2.0/24'], excludedCountries: ['DE'] }

/** Rows of every outcome; event ids occur in several chunks, and a session is spread over several chunks. */
const rowsFor = (project: string, other: string): readonly (object | string)[] =>
  [
    at('10:00', { event_id: 'a' }),
    at('10:10', { event_id: 'stored' }),
    '',
    at('10:20', { user_id: 'v', referrer_url: 'https://www.google.com/' }),
    'not JSON',
    at('10:30', { ip: '192.0.2.9', event_id: 'b' }),
    at('10:40', { event_id: 'b' }),
    at('10:40', { event_id: 'a' }),
    at('10:50', { user_agent: 'Googlebot/2.1' }),
    at('10:50', { country: 'DE' }),
    at('10:50', { ip: '203.0.113.9', event_id: 'c' }),
    '\u0015field: is odd\u001fthe row as it was',
    at('11:00', { user_id: null, ip: '198.51.100.1' }),
    at('11:01', { user_id: null, ip: '198.51.100.1' }),
    at('11:02', { user_id: null, ip: '198.51.100.2' }),
    at('11:03', { name: '', url: 'x' }),
    at('23:00', { session_id: 's' }),
    at('12:00', { session_id: 's' }),
    at('10:00', { project: other }),
    at('23:50', { user_id: null, ip: '198.51.100.2' }),
    { ...at('00:10', { user_id: null, ip: '198.51.100.2' }), timestamp: '2026-02-01T00:10:00Z' },
    { ...at('00:41', { user_id: null, ip: '198.51.100.2' }), timestamp: '2026-02-01T00:41:00Z' },
  ].map((row) => (typeof row === 'string' ? row : { project, ...row }))

test('a dry run reports what the import then does, and leaves nothing', async () => {
  const { store } = database
  const geoip = await createGeoip({ '203.0.113.0/24': { country: { iso_code: 'DE' } } })
  const [project, other] = [await newProject(store, RULES), await newProject(store)]
  const stored = [at('09:40', { event_id: 'stored' }), at('09:00', { user_id: 'w' })]
  await importLines(store, toLines(stored), { projectId: project.id })
  const rows = rowsFor(project.id, other.id)
  const before = await counts()
  expect(before).toMatchObject({ events: 2, inbox: expect.any(Number), salts: 0 })
  const want = {
    ...{ received: 21, events: 12, duplicates: 2, bots: 1, excluded: 3, rejected: 3 },
    ...{ users: 6, sessions: 9 },
    ...{ first: new Date('2026-01-31T10:00:00Z'), last: new Date('2026-02-01T00:41:00Z') },
  }
  for (const chunkSize of [400, 1_000_000]) {
    const progress: LoadReport[] = []
    const dryRun = await importLines(store, splitIntoChunks(toLines(rows), [33]), {
      geoip,
      chunkSize,
      dryRun: true,
      onProgress: (soFar) => progress.push(soFar),
    })
    expect(dryRun.report).toEqual(want)
    expect(dryRun.rejections).toEqual([
      { row: 5, reason: 'is not valid JSON', line: 'not JSON' },
      { row: 12, reason: 'field: is odd', line: 'the row as it was' },
      {
        row: 16,
        reason:
          'name: must have 1 to 128 characters; url: must be absolute, as https://example.com/path',
        line: JSON.stringify(rows[15]),
      },
    ])
    expect(progress.at(-1)?.received).toBe(21)
    expect(progress.length > 1).toBe(chunkSize === 400)
    expect(await counts()).toEqual(before)
    expect(await listLeftovers(store)).toEqual([])
  }
  const dryRun = await importLines(store, toLines(rows), { geoip, dryRun: true })
  const real = await importLines(store, toLines(rows), { geoip, chunkSize: 400 })
  expect(real).toEqual(dryRun)
  const again = await importLines(store, toLines(rows), { geoip, dryRun: true })
  expect(again.report).toEqual({
    ...{ received: 21, events: 10, duplicates: 4, bots: 1, excluded: 3, rejected: 3 },
    ...{ users: 6, sessions: 7, first: want.first, last: want.last },
  })
})

test.each([
  { what: 'no rows at all', rows: [] },
  { what: 'only blank rows', rows: ['', ' \t'] },
])('a dry run of $what reports nothing', async ({ rows }) => {
  const { report, rejections } = await importLines(database.store, toLines(rows), { dryRun: true })
  expect(report).toEqual({
    ...{ received: 0, events: 0, duplicates: 0, bots: 0, excluded: 0, rejected: 0 },
    ...{ users: 0, sessions: 0, first: null, last: null },
  })
  expect(rejections).toEqual([])
})

test('a dry run whose source or listener fails leaves nothing', async () => {
  const { store } = database
  const { id: projectId } = await newProject(store)
  const before = await counts()
  const text = toLines([at('10:00'), 'bad', at('10:01')])
  const failure = new Error('no more')
  const fail = (): never => {
    throw failure
  }
  const options = { projectId, dryRun: true, chunkSize: 80 }
  for (const [source, more] of [
    [splitIntoChunks(text, [90], failure), {}],
    [splitIntoChunks('', [90], failure), {}],
    [splitIntoChunks(text), { onProgress: fail }],
    [splitIntoChunks(text), { onRejected: fail }],
  ] as const) {
    await expect(importLines(store, source, { ...options, ...more })).rejects.toBe(failure)
  }
  await expect(importLines(store, toLines(['x'.repeat(90)]), options)).rejects.toThrow(
    'row 1: is longer',
  )
  expect(await counts()).toEqual(before)
  expect(await listLeftovers(store)).toEqual([])
})
