/** Usage: every accepted event is counted by what became of it, at whatever statement its load stops. */
import { expect, test } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { insertBatch } from '../../../src/ingest/inbox/batches.js'
import { createLogger } from '../../../src/lib/log.js'
import { createQueryUsage } from '../../../src/usage/query-usage.js'
import { readProjectStatus } from '../../../src/usage/project-status.js'
import { readUsage, type Usage } from '../../../src/usage/read-usage.js'
import { breakAfter, BrokenError } from '../../support/store/breaking.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { importLines, toLines } from '../../support/sources/sources.js'
import { deleteUser, loadBatch, loadStream, resumeLoads } from '../../support/store/loading.js'
import { feed, loadInbox } from '../../support/store/stream.js'
import { newProject } from '../../support/world/world.js'

const database = withDatabase()

const event = (fields: object = {}): object => ({
  timestamp: '2026-01-10T10:00:00Z',
  user_id: 'u',
  ...fields,
})

const RULES = { excludedIps: ['192.0.2.0/24'], excludedCountries: ['DE'] }

/** What is sent, and what becomes of it: a member of a row of usage. */
const OUTCOMES: readonly (readonly [what: string, line: object | string])[] = [
  ['counted', event()],
  ['counted', event({ event_id: 'known' })],
  ['repeated', event({ event_id: 'known' })],
  ['bots', event({ user_agent: 'Googlebot/2.1' })],
  ['addresses', event({ ip: '192.0.2.7' })],
  ['countries', event({ country: 'DE' })],
  ['unreadable', 'no JSON'],
  ['unreadable', '[1]'],
  ['size', event({ path: `/${'x'.repeat(40_000)}` })],
  ['timestamp', event({ timestamp: 'noon' })],
  // The timestamp comes before other fields.
  ['timestamp', event({ name: '', timestamp: '1' })],
  ['field', event({ colour: 'red' })],
  ['field', event({ name: '' })],
  ['field', event({ url: 'relative' })],
]

const NONE = {
  ...{ counted: 0, repeated: 0, waiting: 0, queries: 0 },
  excluded: { bots: 0, addresses: 0, countries: 0 },
  rejected: { unreadable: 0, size: 0, users: 0, timestamp: 0, field: 0, other: 0 },
}
const TAKEN = {
  ...NONE,
  ...{ accepted: OUTCOMES.length, counted: 2, repeated: 1 },
  excluded: { bots: 1, addresses: 1, countries: 1 },
  rejected: { ...NONE.rejected, unreadable: 2, size: 1, timestamp: 2, field: 3 },
}
const LINES = OUTCOMES.map(([, line]) => line)

const read = (
  ids: readonly string[],
  interval: 'day' | 'month' = 'day',
  [from, to] = ['2026-03-01', '2026-04-30'],
): Promise<readonly Usage[]> =>
  readUsage(toCluster(database.store), {
    from: new Date(from),
    to: new Date(to),
    interval,
    projectIds: ids,
  })

const withoutBytes = (rows: readonly Usage[]): readonly object[] =>
  rows.map(({ bytes: _, ...row }) => row)

test('each event is counted by what became of it', async () => {
  const { store } = database
  const projects: string[] = []
  for (const [what, line] of OUTCOMES) {
    const { id } = await newProject(store, RULES)
    projects.push(id)
    // An id is repeated only if it came before.
    if (what === 'repeated') await feed(store, id, [event({ event_id: 'known' })], '2026-02-01')
    await feed(store, id, [line], '2026-03-31 23:59:59.999')
  }
  await loadInbox(store)
  const rows = new Map((await read(projects)).map((row) => [row.project, row]))
  const found = projects.map((id, i) => {
    const { start, accepted, counted, repeated, excluded, rejected } = rows.get(id)!
    const numbers: Readonly<Record<string, number>> = {
      ...{ counted, repeated },
      ...excluded,
      ...rejected,
    }
    return [start, accepted, ...Object.keys(numbers).filter((one) => numbers[one] === 1), i]
  })
  expect(found).toEqual(OUTCOMES.map(([what], i) => ['2026-03-31', 1, what, i]))
})

test('rows that wait are accepted, and then taken, on the day of their arrival', async () => {
  const { store } = database
  const [{ id }, other] = [await newProject(store, RULES), await newProject(store)]
  await feed(store, id, LINES, '2026-03-31 23:59:59.999')
  await feed(
    store,
    '',
    [
      { ...event(), project: id },
      { ...event(), project: other.id },
    ],
    '2026-04-01',
  )
  await feed(store, '', [{ ...event(), project: 'nobody' }, 'no JSON'], '2026-04-01')
  const days = [
    { project: id, start: '2026-03-31' },
    { project: id, start: '2026-04-01' },
  ]
  const waiting = { ...NONE, accepted: 1, waiting: 1 }
  const counted = { ...NONE, accepted: 1, counted: 1 }
  expect(withoutBytes(await read([id]))).toEqual([
    { ...days[0], ...NONE, accepted: LINES.length, waiting: LINES.length },
    { ...days[1], ...waiting },
  ])
  await loadInbox(store)
  const loaded = [
    { ...days[0], ...TAKEN },
    { ...days[1], ...counted },
  ]
  expect(withoutBytes(await read([id]))).toEqual(loaded)
  const { bytes } = (await read([id]))[0]!
  expect(bytes).toBeGreaterThan(0)

  // A late event that rewrites the session, and deletions.
  await feed(
    store,
    id,
    [event({ timestamp: '2026-01-10T09:50:00Z', utm_source: 'x' })],
    '2026-04-02',
  )
  await loadInbox(store)
  await deleteUser(store, id, 'u')
  expect(withoutBytes(await read([id]))).toEqual([
    ...loaded,
    { project: id, start: '2026-04-02', ...counted },
  ])
  const months = await read([other.id, id, id, 'nobody'], 'month', ['2026-03-31', '2026-04-01'])
  const summary = months.map((row) => [row.project, row.start, row.accepted, row.counted])
  expect(summary).toEqual(
    [
      [id, '2026-03-01', LINES.length, 2],
      [id, '2026-04-01', 2, 2],
      [other.id, '2026-04-01', 1, 1],
    ].sort(),
  )
})

/** The statements after which a load stops: before it is staged, and at each state that usage can see. */
const PLACES = [
  /INSERT INTO loading_sessions/,
  /INSERT INTO usage/,
  /INSERT INTO events\b/,
  /INSERT INTO inbox_cursor/,
] as const

async function stopAt(
  place: RegExp,
  load: (writer: Connection) => Promise<unknown>,
): Promise<void> {
  await expect(load(breakAfter(database.store.writer, place))).rejects.toBeInstanceOf(BrokenError)
}

test.each(PLACES)(
  'a load of the stream that stops after %s loses and adds nothing',
  async (place) => {
    const { store } = database
    const { id } = await newProject(store, RULES)
    await feed(store, id, LINES, '2026-03-05')
    await stopAt(place, loadStream)
    const sent = LINES.length
    expect(await read([id])).toMatchObject([{ accepted: sent }])
    await feed(store, id, [event()], '2026-03-05')
    expect(await read([id])).toMatchObject([{ accepted: sent + 1 }])
    await loadInbox(store)
    expect(withoutBytes(await read([id]))).toEqual([
      { project: id, start: '2026-03-05', ...TAKEN, accepted: sent + 1, counted: 3 },
    ])
  },
)

test.each([/INSERT INTO usage/, /INSERT INTO events\b/] as const)(
  'a batch whose load stops after %s counts once',
  async (place) => {
    const { store } = database
    const { id } = await newProject(store, RULES)
    await insertBatch(store.writer, {
      now: new Date('2026-03-06'),
      batch: `usage-${id}`,
      projectId: id,
      firstRow: 1,
      bytes: Buffer.from([event(), event(), 'no JSON'].map(toText).join('\n')),
    })
    expect(await read([id])).toMatchObject([{ accepted: 3, waiting: 3 }])
    await stopAt(place, (writer) => loadBatch(writer, `usage-${id}`))
    expect(await read([id])).toMatchObject([{ accepted: 3, counted: 2, waiting: 0 }])
    await resumeLoads(store.writer)
    expect(await read([id])).toMatchObject([{ accepted: 3, counted: 2, waiting: 0 }])
  },
)

const toText = (line: object | string): string =>
  typeof line === 'string' ? line : JSON.stringify(line)

test('counts that a killed server has forgotten are written again', async () => {
  const { store } = database
  const { id } = await newProject(store)
  await feed(store, id, [event()], '2026-03-07')
  await stopAt(/INSERT INTO usage/, loadStream)
  // The token of the insert is known, and its part is not there.
  await store.writer.execute({
    query: `DELETE FROM usage WHERE project_id = {id:String}`,
    query_params: { id },
  })
  await loadInbox(store)
  expect(await read([id])).toMatchObject([{ accepted: 1, counted: 1 }])
})

test('an import counts once, however often it is repeated', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const lines = toLines([event(), event({ event_id: 'a' }), event({ event_id: 'a' }), 'no JSON'])
  for (let i = 0; i < 2; i += 1) {
    await importLines(store, lines, { projectId: id })
    const [row] = await read([id], 'month', ['2099-12-01', '2099-12-31'])
    expect([row?.counted, row?.repeated]).toEqual([2, 1])
  }
})

test('the last load is kept when parts are merged', async () => {
  const { store } = database
  const { id } = await newProject(store)
  for (const day of ['2026-03-08', '2026-03-08']) {
    await feed(store, id, [event()], day)
    await loadInbox(store)
  }
  await store.writer.execute({ query: 'OPTIMIZE TABLE usage FINAL', query_params: {} })
  const rows = await select<{ events: number; isLast: number }>(
    store,
    sql`
SELECT events, load = (SELECT max(load) FROM inbox_cursor) AS isLast FROM usage
WHERE project_id = ${string(id)}`,
  )
  expect(rows).toEqual([{ events: 2, isLast: 1 }])
})

test('queries are counted by day, written in batches, and not lost when the store is away', async () => {
  const { store } = database
  const [one, two] = [await newProject(store), await newProject(store)]
  let now = new Date('2026-03-31T23:59:59Z')
  let isAway = true
  const writer: Connection = {
    ...store.writer,
    upload: async (...args) => {
      // The rows are stored, and the response is lost.
      await store.writer.upload(...args)
      if (isAway) throw new Error('away')
    },
  }
  const logger = createLogger('silent')
  const usage = createQueryUsage({ writer, now: () => now, logger, intervalMs: 5 })
  usage.count(one.id)
  usage.count(one.id)
  usage.count(two.id)
  now = new Date('2026-04-01T00:00:00Z')
  usage.count(one.id)
  isAway = false
  await usage.stop()
  const rows = (await read([one.id, two.id])).map((row) => [row.project, row.start, row.queries])
  expect(rows).toEqual(
    [
      [one.id, '2026-03-31', 2],
      [one.id, '2026-04-01', 1],
      [two.id, '2026-03-31', 1],
    ].sort(),
  )
})

test('the status of a project tells what it has, what waits, and what was rejected', async () => {
  const { store } = database
  const { id } = await newProject(store, { keepDays: 10 })
  const status = () => readProjectStatus(toCluster(store), id, () => new Date())
  expect(await status()).toMatchObject({
    ...{ firstEventAt: null, lastEventAt: null, waiting: 0, lagSeconds: 0, problems: [] },
    rejectedLately: { days: 7, samples: [], reasons: NONE.rejected },
  })
  await feed(store, id, [
    event(),
    event({ timestamp: '2026-01-12T10:00:00Z' }),
    event({ colour: 'red', ip: '203.0.113.9', referrer_url: 'x 203.0.113.9 2001:db8::1 10:00:00' }),
  ])
  expect(await status()).toMatchObject({ waiting: 3, lagSeconds: expect.any(Number) })
  await loadInbox(store)
  await feed(store, id, [event()], '2026-01-13')
  const found = await status()
  expect(found).toMatchObject({
    firstEventAt: new Date('2026-01-10T10:00:00Z'),
    lastEventAt: new Date('2026-01-12T10:00:00Z'),
    waiting: 1,
    rejectedLately: {
      reasons: { ...NONE.rejected, field: 1 },
      samples: [{ at: expect.any(Date), reason: 'colour: is not a known field' }],
    },
    problems: [{ kind: 'late_events' }, { kind: 'held_data' }],
  })
  expect(found.lagSeconds).toBeGreaterThan(1_000)
  expect(JSON.parse(found.rejectedLately.samples[0]?.line ?? '')).toEqual(
    event({ colour: 'red', ip: '', referrer_url: 'x … … 10:00:00' }),
  )
})
