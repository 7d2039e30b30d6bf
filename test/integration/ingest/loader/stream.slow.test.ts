/** The stream: rows that are inserted into the inbox become events, each once. */
import { describe, expect, test } from '@jest/globals'
import { parseError } from '@clickhouse/client'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import type { Connection } from '../../../../src/clickhouse/connection.js'
import { join, sql, statement, string, uint64, type Sql } from '../../../../src/clickhouse/sql.js'
import { insertBatch } from '../../../../src/ingest/inbox/batches.js'
import { findStart } from '../../../../src/ingest/inbox/position.js'
import { readNextNumber } from '../../../../src/ingest/loader/load-log.js'
import {
  buildFromClause,
  isWithin,
  joinStretches,
  nameStretches,
  passStretches,
  type Stretches,
} from '../../../../src/ingest/loader/load-source.js'
import { findNextRows } from '../../../../src/ingest/loader/next-rows.js'
import { dropLoadedParts, recordStretches } from '../../../../src/ingest/loader/stream.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { isSampled, scaled, thoroughTest } from '../../../support/effort.js'
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
import { feed, findBlock, hideBlocks, loadInbox } from '../../../support/store/stream.js'
import { ARRIVAL, newProject } from '../../../support/world/world.js'
import {
  checkRollups,
  loadBatch,
  loadStream,
  loadWaiting,
  resumeLoads,
} from '../../../support/store/loading.js'

const database = withDatabase()

const at = (time: string, fields: object = {}): object => ({
  timestamp: `2026-01-31T${time}Z`,
  user_id: 'u',
  ...fields,
})

const paths = async (project: StoredProject): Promise<readonly string[]> =>
  (
    await select<{ path: string }>(
      database.store,
      sql`SELECT path FROM events WHERE project_id = ${string(project.id)} ORDER BY timestamp, path`,
    )
  ).map(({ path }) => path)

test('rows are loaded in order of arrival, each once', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, [at('10:00:00', { path: '/1' }), at('10:01:00', { path: '/2' })])
  await feed(store, project.id, [at('10:02:00', { path: '/3', event_id: 'e' })])
  await loadInbox(store)
  await feed(store, project.id, [at('10:03:00', { path: '/late', event_id: 'e' })])
  await feed(store, project.id, [at('09:50:00', { path: '/0', utm_source: 'first' })])
  await loadInbox(store)
  expect(await paths(project)).toEqual(['/0', '/1', '/2', '/3'])
  expect(await readFacts(store, project.id)).toMatchObject([
    { pageviews: 4, entry_path: '/0', utm_source: 'first' },
  ])
  await expectConsistentFacts(store, project.id)
  expect(await listLeftovers(store)).toEqual([])
})

test('an event without a timestamp gets its time of arrival', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(
    store,
    project.id,
    [{ user_id: 'u' }, { user_id: 'v', timestamp: '' }],
    '2026-01-31 10:00:00.123',
  )
  await loadInbox(store)
  expect(
    await select(store, sql`SELECT timestamp FROM events WHERE project_id = ${string(project.id)}`),
  ).toEqual([{ timestamp: '2026-01-31 10:00:00.123' }, { timestamp: '2026-01-31 10:00:00.123' }])
})

test('the same rows inserted twice are loaded twice, even within a millisecond', async () => {
  const { store } = database
  const project = await newProject(store)
  const rows = [at('10:00:00')]
  for (let n = 0; n < 5; n += 1) await feed(store, project.id, rows, '2026-02-01 00:00:00.000')
  await loadInbox(store)
  expect(await paths(project)).toHaveLength(5)
})

test('a rejected row is stored with its reason, and without its IP address', async () => {
  const { store } = database
  const project = await newProject(store)
  const arrival = '2026-02-01 12:00:00.000'
  await feed(
    store,
    project.id,
    [
      'not JSON {"ip" : "203.0.113.9"}',
      { timestamp: '2026-02-02T12:00:00.001Z', ip: '203.0.113.9' },
      { timestamp: '2026-02-02T12:00:00.000Z', path: '/ahead' },
      { country: 'Germany' },
      '{"country":"France","\\u0069\\u0070":"203.0.113.9"}',
      '{"country":"Spain","ip":"203.0.113.9',
    ],
    arrival,
  )
  await loadInbox(store)
  expect(await paths(project)).toEqual(['/ahead'])
  expect(
    await select(store, sql`SELECT reason, line FROM rejections WHERE batch = '' ORDER BY reason`),
  ).toEqual([
    {
      reason: 'country: must be an ISO 3166-1 alpha-2 code, as DE',
      line: '{"country":"Germany"}',
    },
    {
      reason: 'country: must be an ISO 3166-1 alpha-2 code, as DE',
      line: '{"country":"France","\\u0069\\u0070":""}',
    },
    { reason: 'is not valid JSON', line: 'not JSON {"ip" : ""}' },
    { reason: 'is not valid JSON', line: '{"country":"Spain","ip":""' },
    {
      reason: 'timestamp: must be at most 24 hours ahead of its arrival',
      line: '{"timestamp":"2026-02-02T12:00:00.001Z","ip":""}',
    },
  ])
})

test('block 0 is a block as others', async () => {
  const starts = (blocks: readonly number[]): Sql[] =>
    blocks.map((block) => findStart(sql`${uint64(block)}`))
  const [a, b, c, d, e] = starts([0, 1, 2, 5, 6]) as [Sql, Sql, Sql, Sql, Sql]
  const joined = joinStretches(sql`[(${d}, ${e}), (${b}, ${c} + 3), (${a}, ${b})]`)
  const toTexts = (positions: Sql): Sql =>
    sql`arrayMap(position -> toString(position), ${positions})`
  const [stretches] = await select<Stretches>(
    database.store,
    sql`SELECT ${toTexts(joined.starts)} AS starts, ${toTexts(joined.ends)} AS ends`,
  )
  const block = 2n ** 32n
  expect(stretches).toEqual({
    starts: [0n, 5n * block].map(String),
    ends: [2n * block + 3n, 6n * block].map(String),
  })
  const asked = [a, b, c, sql`${c} + 2`, sql`${c} + 3`, d, sql`${d} + 4294967295`, e]
  const answers = asked.map((position) => isWithin(position, passStretches(stretches!)))
  expect(await select(database.store, sql`SELECT [${join(answers)}] AS answers`)).toEqual([
    { answers: [1, 1, 1, 1, 0, 1, 1, 0] },
  ])
  expect(nameStretches(stretches!)).toMatch(/^stream-0-5-[0-9a-f]{16}$/)
  expect(nameStretches({ starts: ['0', `${block}`], ends: ['0', `${block + 1n}`] })).toMatch(
    /^stream-1-1-/,
  )
})

test('blocks that become visible in any order are loaded once, whole or in parts', async () => {
  const { store } = database
  const { writer } = store
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
      fc.infiniteStream(fc.nat(3)),
      async (sizes, choices) => {
        const choose = (): number => Number(choices.next().value)
        const name = randomUUID()
        const lines = (block: number): string[] =>
          Array.from({ length: sizes[block]! }, (_, row) => `${name} ${block}.${row}`)
        const blocks: number[] = []
        for (const block of sizes.keys()) {
          await feed(store, 'none', lines(block))
          blocks.push(await findBlock(store, name))
        }
        const loaded: string[] = []
        const all = sizes.flatMap((_, block) => lines(block))
        for (let hidden = blocks; loaded.length < all.length;) {
          hidden = hidden.filter(() => choose() > 0)
          const seen = hideBlocks(writer, hidden)
          const limits = { rows: choose() + 1, bytes: 10_000 }
          const next = await findNextRows(seen, { limits })
          if (next === undefined) continue
          const { rows } = await seen.query<{ line: string }>(
            statement(sql`SELECT line ${buildFromClause(next)}`),
          )
          expect(rows.length).toBeLessThanOrEqual(limits.rows)
          loaded.push(...rows.map(({ line }) => line))
          await recordStretches(seen, await readNextNumber(seen), next)
          if (choose() > 0) await dropLoadedParts(seen)
        }
        expect(loaded.toSorted()).toEqual(all.toSorted())
        expect(await findNextRows(writer)).toBeUndefined()
        await dropLoadedParts(writer)
        expect(await listLeftovers(store)).toEqual([])
      },
    ),
    { numRuns: scaled(6), endOnFailure: true },
  )
})

test('a loaded part that a replicated table is about to merge is dropped by a later load', async () => {
  const { store } = database
  const project = await newProject(store)
  const refusal = parseError(
    'Code: 384. DB::Exception: Part x_439_439_0 has already been assigned a merge into x_439_532_1. (PART_IS_TEMPORARILY_LOCKED)',
  )
  const isDrop = (text: string): boolean => text.startsWith('ALTER TABLE inbox DROP PART ')
  const merging: Connection = {
    ...store.writer,
    execute: (asked, settings) =>
      isDrop(asked.query) ? Promise.reject(refusal) : store.writer.execute(asked, settings),
  }
  await feed(store, project.id, [at('10:00:00', { path: '/' })])
  expect(await loadStream(merging)).toMatchObject({ report: { events: 1 } })
  expect(await listLeftovers(store)).not.toEqual([])
  await dropLoadedParts(store.writer)
  expect(await listLeftovers(store)).toEqual([])
})

describe('stopped', () => {
  const ROWS = [
    at('09:50:00', { path: '/before', utm_source: 'ads', event_id: 'a' }),
    at('10:10:00', { path: '/again', event_id: 'a' }),
    at('10:20:00', { path: '/bot', user_agent: 'Googlebot/2.1' }),
    at('10:20:00', { path: '/derived', user_id: null, ip: '10.0.0.2' }),
    'bad',
  ]

  /** Creates projects that have an event each. */
  async function makeProjects(count: number): Promise<StoredProject[]> {
    const projects: StoredProject[] = []
    while (projects.length < count) projects.push(await newProject(database.store))
    const events = projects.map(({ id }) => at('10:00:00', { path: '/stored', project: id }))
    await feed(database.store, '', events)
    await loadInbox(database.store)
    return projects
  }

  async function feedRows({ id }: StoredProject): Promise<void> {
    for (const row of ROWS) await feed(database.store, id, [row])
  }

  const outcome = async (project: StoredProject): Promise<unknown> => {
    const { store } = database
    await expectConsistentFacts(store, project.id)
    return {
      facts: (await readFacts(store, project.id)).map(({ user_id, items, ...rest }) => ({
        ...rest,
        user: user_id.replace(/^anonymous-.*/, 'anonymous'),
        paths: items.map((item) => item),
      })),
      exclusions: await select(
        store,
        sql`SELECT reason, sum(events) AS rows FROM usage WHERE project_id = ${string(project.id)} GROUP BY ALL`,
      ),
      leftovers: await listLeftovers(store),
    }
  }

  test('after any statement, a load is finished by the next loader', async () => {
    const { store } = database
    const [calm] = (await makeProjects(1)) as [StoredProject]
    await feedRows(calm)
    const noted = noteStatements(store.writer)
    while ((await loadStream(noted.connection)) !== undefined);
    const places = noted.listPlaces(/INSERT INTO users\b/)
    const counts = places.filter((_, i) => i === places.length - 1 || isSampled(i + 1, 25))
    const projects = await makeProjects(counts.length)
    const wanted = await outcome(calm)
    expect(await paths(calm)).toEqual(['/before', '/stored', '/derived'])
    const before = await select(store, sql`SELECT count() AS n FROM rejections WHERE batch = ''`)
    let isDone = false
    for (const [i, count] of counts.entries()) {
      if (isDone) break
      const project = projects[i]!
      await feedRows(project)
      // The loader that stops does not see this row, which becomes visible behind later ones.
      const hidden = await findBlock(store, '/derived')
      const broken = breakAfter(hideBlocks(store.writer, [hidden]), count)
      try {
        while ((await loadStream(broken)) !== undefined);
        isDone = true
        expect(count).toBeGreaterThan(35)
      } catch (error) {
        if (!(error instanceof BrokenError)) throw error
      }
      await loadWaiting(store.writer)
      expect({ count, ...((await outcome(project)) as object) }).toEqual({
        count,
        ...(wanted as object),
      })
      if (isDone) {
        const after = await select(store, sql`SELECT count() AS n FROM rejections WHERE batch = ''`)
        expect(after).toEqual([{ n: Number(before[0]!['n']) + i + 1 }])
      }
    }
    expect(isDone).toBe(true)
  })

  thoroughTest(
    'a suspended loader that resumes after another one finished its load adds nothing',
    async () => {
      const { store } = database
      const moments = [2, 5, 9, 14, 20, 25, 28, 31, 34, 37]
      const projects = await makeProjects(moments.length)
      for (const [i, moment] of moments.entries()) {
        const project = projects[i]!
        await feedRows(project)
        const suspended = pauseBefore(store.writer, moment, () => loadWaiting(store.writer))
        await loadStream(suspended).catch(() => undefined)
        await loadWaiting(store.writer)
        expect(await paths(project)).toEqual(['/before', '/stored', '/derived'])
        await expectConsistentFacts(store, project.id)
      }
    },
  )
})

thoroughTest('merges of the inbox neither lose nor duplicate rows', async () => {
  const { store } = database
  const project = await newProject(store)
  const path = (n: number): string => `/${String(n).padStart(3, '0')}`
  const merge = statement(sql`OPTIMIZE TABLE inbox FINAL`)
  for (let n = 0; n < 30; n += 1) {
    await feed(store, project.id, [at('10:00:00', { path: path(n) })])
    if (n % 4 === 0) await store.writer.execute(merge)
    if (n % 5 === 0) await loadInbox(store)
    if (n % 7 === 0) await store.writer.execute(merge)
  }
  await loadInbox(store)
  expect(await paths(project)).toEqual(Array.from({ length: 30 }, (_, n) => path(n)))
  expect(await listLeftovers(store)).toEqual([])
})

test('batches and the stream can be loaded at the same time', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, [at('10:00:00', { path: '/stream' })])
  await insertBatch(store.writer, {
    batch: 'side',
    projectId: project.id,
    firstRow: 1,
    bytes: Buffer.from(JSON.stringify(at('10:01:00', { path: '/batch' }))),
    now: ARRIVAL,
  })
  await resumeLoads(store.writer)
  expect(await paths(project)).toEqual(['/batch'])
  expect(await loadBatch(store.writer, 'side')).toMatchObject({ events: 1 })
  await loadInbox(store)
  expect(await paths(project)).toEqual(['/stream', '/batch'])
})

test('after all these cases the rollups agree with the events', async () => {
  expect(await checkRollups(database.store.writer, {})).toMatchObject({
    different: 0,
    differences: [],
  })
})

thoroughTest(
  'more than a thousand parts that nothing has merged are loaded and dropped',
  async () => {
    const { store } = database
    const { id } = await newProject(store)
    const line = JSON.stringify({ timestamp: '2026-02-01T10:00:00Z', user_id: 'u' })
    await store.admin.execute(statement(sql`SYSTEM STOP MERGES inbox`))
    await store.writer.execute(
      statement(
        sql`INSERT INTO inbox (project, line) SELECT ${string(id)}, ${string(line)} FROM numbers(1_100)`,
      ),
      { max_block_size: '1', min_insert_block_size_rows: '1', max_insert_threads: '1' },
    )
    expect(await select(store, sql`SELECT uniqExact(_part) > 1_000 AS many FROM inbox`)).toEqual([
      { many: 1 },
    ])
    await loadInbox(store)
    await store.admin.execute(statement(sql`SYSTEM START MERGES inbox`))
    expect(await listLeftovers(store)).toEqual([])
    expect(
      await select(store, sql`SELECT count() AS n FROM events WHERE project_id = ${string(id)}`),
    ).toEqual([{ n: 1_100 }])
  },
)
