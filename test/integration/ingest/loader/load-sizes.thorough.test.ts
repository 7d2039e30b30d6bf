/** How large loads are: blocks are cut, large loads are published in slices, and rows that do not fit are rejected. */
import { expect, test } from '@jest/globals'
import type { Connection } from '../../../../src/clickhouse/connection.js'
import { sql, statement, string } from '../../../../src/clickhouse/sql.js'
import {
  findUnfinishedLoads,
  readNextNumber,
  recordStaged,
  startLoad,
} from '../../../../src/ingest/loader/load-log.js'
import { takeBatch } from '../../../../src/ingest/loader/load-source.js'
import { findNextRows, MAX_LOAD } from '../../../../src/ingest/loader/next-rows.js'
import { recordStretches, restartStream } from '../../../../src/ingest/loader/stream.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { breakAfter, BrokenError } from '../../../support/store/breaking.js'
import { withDatabase } from '../../../support/store/database.js'
import {
  expectConsistentFacts,
  listLeftovers,
  readFacts,
  select,
} from '../../../support/store/facts.js'
import {
  checkRollups,
  importEvents,
  loadStream,
  loadWaiting,
  resumeLoads,
} from '../../../support/store/loading.js'
import { feed } from '../../../support/store/stream.js'
import { ARRIVAL, newProject } from '../../../support/world/world.js'

const database = withDatabase()

const minute = (n: number): string => `2026-01-31T10:${String(n).padStart(2, '0')}:00Z`
const visit = (n: number, fields: object = {}): object => ({
  timestamp: minute(n),
  user_id: `u${n % 3}`,
  path: `/${n}`,
  event_id: `e${n}`,
  ...fields,
})

const countEvents = async ({ id }: StoredProject): Promise<unknown> =>
  (
    await select(
      database.store,
      sql`SELECT count() AS n, uniqExact(path) AS paths FROM events WHERE project_id = ${string(id)}`,
    )
  )[0]

const readRejections = (batch: string): Promise<readonly object[]> =>
  select(
    database.store,
    sql`SELECT row, reason, length(line) AS length FROM rejections WHERE batch = ${string(batch)}`,
  )

test('loads take whole blocks while they fit, cut a block that does not, and leave no row out', async () => {
  const { store } = database
  const { writer } = store
  // Blocks of 3, 2, 4 and 1 rows; each line has 100 bytes, and one has 1,000.
  for (const lengths of [[100, 100, 100], [100, 100], [100, 1_000, 100, 100], [100]]) {
    await feed(
      store,
      'none',
      lengths.map((length) => 'x'.repeat(length)),
    )
  }
  const cases = [
    { limits: { rows: 100, bytes: 10_000 }, want: ['1-5'] },
    { limits: { rows: 5, bytes: 10_000 }, want: ['1-3', '3-5'] },
    { limits: { rows: 100, bytes: 500 }, want: ['1-3', '3-3.1', '3.1-3.2', '3.2-5'] },
    {
      limits: { rows: 2, bytes: 10_000 },
      want: ['1-1.2', '1.2-2', '2-3', '3-3.2', '3.2-4', '4-5'],
    },
    {
      limits: { rows: 1, bytes: 1 },
      want: [
        ...['1-1.1', '1.1-1.2', '1.2-2', '2-2.1', '2.1-3'],
        ...['3-3.1', '3.1-3.2', '3.2-3.3', '3.3-4', '4-5'],
      ],
    },
  ]
  for (const { limits, want } of cases) {
    await restartStream(writer)
    const found: string[] = []
    for (;;) {
      const next = await findNextRows(writer, { limits })
      if (next === undefined) break
      expect([next.starts[0], next.ends[0]]).toEqual(['0', '0'])
      found.push(
        next.starts
          .slice(1)
          .map((start, i) => `${place(start)}-${place(next.ends[i + 1]!)}`)
          .join(),
      )
      await recordStretches(writer, await readNextNumber(writer), next)
    }
    expect({ limits, found }).toEqual({ limits, found: want })
  }
})

/** Writes a position as its block and its row. */
function place(position: string): string {
  const [block, row] = [BigInt(position) >> 32n, BigInt(position) % 2n ** 32n]
  return row === 0n ? `${block}` : `${block}.${row}`
}

test('a load in slices that stops after any statement is published once', async () => {
  const { store } = database
  const { writer } = store
  for (const stop of [undefined, 8, 10, 12, 14, 16, 18, 21]) {
    const project = await newProject(store)
    await feed(store, project.id, [visit(10, { session_id: 's', utm_source: 'late' }), visit(11)])
    await loadWaiting(writer)
    const events = Array.from({ length: 30 }, (_, n) =>
      visit(n + 20, { properties: { n: String(n % 7), text: `${n}` } }),
    )
    // An earlier event of a stored session moves it.
    await feed(store, project.id, [visit(9, { session_id: 's', utm_source: 'early' }), ...events])
    const surveyed = loadStream(breakAfter(writer, /AS slices\n/))
    await expect(surveyed).rejects.toBeInstanceOf(BrokenError)
    const [load] = await findUnfinishedLoads(writer)
    await recordStaged(writer, load!, 3)
    if (stop !== undefined) {
      await resumeLoads(breakAfter(writer, stop)).catch((error: unknown) => {
        if (!(error instanceof BrokenError)) throw error
      })
    }
    await resumeLoads(writer)
    expect({ stop, counted: await countEvents(project) }).toEqual({
      stop,
      counted: { n: 33, paths: 33 },
    })
    await expectConsistentFacts(store, project.id)
    expect(await readFacts(store, project.id)).toContainEqual(
      expect.objectContaining({ session_id: 's', utm_source: 'early' }),
    )
    expect(await listLeftovers(store)).toEqual([])
  }
  expect(await checkRollups(writer, {})).toMatchObject({ different: 0 })
})

/** Returns a connection whose loads may use little memory, so that a long line does not fit. */
const withLittleMemory = (writer: Connection): Connection => ({
  ...writer,
  execute: (given, settings) =>
    writer.execute(given, {
      ...settings,
      ...(given.query.includes('CREATE TABLE') ? { max_memory_usage: '100000000' } : {}),
    }),
})

/** A valid event, and more than a load may use in the tests. */
const LONG = visit(59, { properties: { text: 'x'.repeat(40_000_000) } })

test('a row that cannot be loaded is rejected, and all rows around it are loaded', async () => {
  const { store } = database
  const writer = withLittleMemory(store.writer)
  const project = await newProject(store)
  await feed(store, project.id, [visit(1), visit(2), LONG, visit(3), visit(4)])
  await feed(store, project.id, [visit(5)])
  const before = (await readRejections('')).length
  // As the service does: after a failure it resumes.
  for (let failures = 0; ;) {
    try {
      while ((await loadStream(writer)) !== undefined);
      break
    } catch (error) {
      failures += 1
      if (failures > 3) throw error
      await resumeLoads(writer)
    }
  }
  expect(await countEvents(project)).toEqual({ n: 5, paths: 5 })
  expect((await readRejections('')).slice(before)).toEqual([
    {
      row: 0,
      reason: expect.stringMatching(/^cannot be loaded: .*memory limit exceeded/),
      length: 1_000,
    },
  ])
  await expectConsistentFacts(store, project.id)
  expect(await listLeftovers(store)).toEqual([])
})

test('an import reports a row that cannot be loaded, and loads the others, once', async () => {
  const { store } = database
  const project = await newProject(store)
  const rows = [1, 2, 3, 4].map((n) => visit(n))
  async function* source(): AsyncGenerator<Buffer> {
    for (const row of [...rows, LONG, visit(5)]) {
      yield await Promise.resolve(Buffer.from(`${JSON.stringify(row)}\n`))
    }
  }
  const rejected: unknown[] = []
  const run = (): Promise<unknown> =>
    importEvents({ ...store, writer: withLittleMemory(store.writer) }, source(), {
      now: ARRIVAL,
      projectId: project.id,
      onRejected: (list) => void rejected.push(...list.map(({ row, reason }) => ({ row, reason }))),
    })
  const reason = expect.stringMatching(/^cannot be loaded: .*memory limit exceeded/)
  expect(await run()).toMatchObject({ received: 6, events: 5, rejected: 1 })
  expect(rejected).toEqual([{ row: 5, reason }])
  expect(await countEvents(project)).toEqual({ n: 5, paths: 5 })
  expect(await run()).toMatchObject({ received: 6, events: 0, duplicates: 5, rejected: 1 })
  expect(rejected).toEqual([
    { row: 5, reason },
    { row: 5, reason },
  ])
  expect(await listLeftovers(store)).toEqual([])
})

test('a store that fails whatever it loads is not the fault of the rows', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, [visit(1)])
  const broken: Connection = {
    ...store.writer,
    execute: (given, settings) =>
      store.writer.execute(given, {
        ...settings,
        ...(given.query.includes('CREATE TABLE') ? { max_memory_usage: '1000' } : {}),
      }),
  }
  const before = await readRejections('')
  for (let n = 0; n < 5; n += 1) {
    await expect(loadStream(broken)).rejects.toThrow(/memory limit exceeded/i)
    await resumeLoads(broken)
  }
  await loadWaiting(store.writer)
  expect(await countEvents(project)).toEqual({ n: 1, paths: 1 })
  expect(await readRejections('')).toEqual(before)
})

test('a batch that an import left and that cannot be loaded does not keep the stream waiting', async () => {
  const { store } = database
  const writer = withLittleMemory(store.writer)
  const project = await newProject(store)
  const insert = statement(
    sql`INSERT INTO inbox (batch, row, project, line) SELECT 'left', number + 1, ${string(project.id)}, if(number = 0, repeat(repeat('x', 1000), 40000), '{}') FROM numbers(2)`,
  )
  await store.writer.execute(insert)
  await startLoad(store.writer, takeBatch('left'))
  await feed(store, project.id, [visit(1)])
  await loadWaiting(writer)
  expect(await countEvents(project)).toEqual({ n: 1, paths: 1 })
  expect(await listLeftovers(store)).toEqual([])
})

test('loads that were interrupted are small, and grow again with each that finishes', async () => {
  const { store } = database
  const { writer } = store
  const project = await newProject(store)
  await feed(
    store,
    project.id,
    Array.from({ length: 60 }, (_, n) => visit(n % 60, { event_id: `grow${n}` })),
  )
  const interrupt = async (): Promise<number> => {
    const next = (await findNextRows(writer))!
    await startLoad(writer, next)
    await resumeLoads(writer)
    return next.maxRows
  }
  const interrupted: number[] = []
  for (let n = 0; n < 5; n += 1) interrupted.push(await interrupt())
  expect(interrupted).toEqual([MAX_LOAD.rows, 60, 15, 15, 4])
  const loads: object[] = []
  for (;;) {
    const load = await loadStream(writer)
    if (load === undefined) break
    loads.push({ maxRows: load.maxRows, rows: load.report.received })
  }
  expect(loads).toEqual([
    { maxRows: 4, rows: 4 },
    { maxRows: 16, rows: 16 },
    { maxRows: 240, rows: 40 },
  ])
  expect(await countEvents(project)).toEqual({ n: 60, paths: 60 })
})

test('a row whose load was interrupted 20 times is rejected, and reported', async () => {
  const { store } = database
  const { writer } = store
  const project = await newProject(store)
  await feed(store, project.id, [visit(1)])
  const before = await readRejections('')
  const reported: number[] = []
  for (let n = 0; n < 20; n += 1) {
    await startLoad(writer, (await findNextRows(writer))!)
    reported.push((await resumeLoads(writer)).rejected)
  }
  expect(reported).toEqual([...Array<number>(19).fill(0), 1])
  expect(await loadStream(writer)).toBeUndefined()
  expect((await readRejections('')).length).toBe(before.length + 1)
})
