/** Imports that are run again: after an interruption, of a source that has grown, or unchanged. */
import { describe, expect, test } from '@jest/globals'
import { sql, string } from '../../../../src/clickhouse/sql.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { sample, thoroughTest } from '../../../support/effort.js'
import { breakAfter, releaseLease } from '../../../support/store/breaking.js'
import { withDatabase } from '../../../support/store/database.js'
import {
  expectConsistentFacts,
  listLeftovers,
  readFacts,
  select,
} from '../../../support/store/facts.js'
import { importLines, splitIntoChunks, toLines } from '../../../support/sources/sources.js'
import { newProject } from '../../../support/world/world.js'
import { deleteProject, type ImportOptions } from '../../../support/store/loading.js'

const database = withDatabase()

/** Lines of equal length, so that chunks of `CHUNK` bytes have two. */
const event = (n: number, fields: object = {}): object => ({
  timestamp: `2026-01-31T10:${String(10 + n)}:00Z`,
  user_id: `u${n % 2}`,
  path: `/${10 + n}`,
  ...fields,
})
const events = (count: number, from = 0): object[] =>
  Array.from({ length: count }, (_, n) => event(from + n))
const CHUNK = 2 * toLines([event(0)]).length

const moment = (n: number): Date => new Date(`2026-01-31T10:${10 + n}:00Z`)
const counts = (events: number, duplicates = 0, rejected = 0) => ({
  received: events + duplicates + rejected,
  events,
  duplicates,
  rejected,
})
const NONE = { bots: 0, excluded: 0 }

const paths = async ({ id }: StoredProject): Promise<readonly string[]> =>
  (
    await select<{ path: string }>(
      database.store,
      sql`SELECT path FROM events WHERE project_id = ${string(id)} ORDER BY path`,
    )
  ).map(({ path }) => path)

const into = (
  { id }: StoredProject,
  more: Partial<ImportOptions> = {},
): Partial<ImportOptions> => ({
  projectId: id,
  chunkSize: CHUNK,
  ...more,
})

/** An interrupted import of a text of four rows in two chunks. */
type Interruption = (project: StoredProject, text: string) => Promise<unknown>
const failure = new Error('interrupted')

const afterChunks =
  (chunks: number): Interruption =>
  (project, text) => {
    let done = 0
    const onProgress = (): void => {
      done += 1
      if (done === chunks) throw failure
    }
    return importLines(database.store, text, into(project, { onProgress }))
  }
const atByte =
  (at: number): Interruption =>
  (project, text) =>
    importLines(database.store, splitIntoChunks(text.slice(0, at), [50], failure), into(project))
const atStatement =
  (last: number | RegExp): Interruption =>
  (project, text) => {
    const { store } = database
    const broken = { ...store, writer: breakAfter(store.writer, last) }
    return importLines(broken, text, into(project)).finally(() => releaseLease(store))
  }

describe('interrupted', () => {
  const cases = [
    ...[1, 2].map((n): [string, Interruption] => [`after chunk ${n}`, afterChunks(n)]),
    ...[0, CHUNK + 5, 2 * CHUNK].map((at): [string, Interruption] => [
      `by its source at byte ${at}`,
      atByte(at),
    ]),
    ...[3, 12, 30, 50].map((n): [string, Interruption] => [`by statement ${n}`, atStatement(n)]),
    ...[/INSERT INTO inbox/, /INSERT INTO events/, /DROP PARTITION/].map(
      (at): [string, Interruption] => [`at ${at.source}`, atStatement(at)],
    ),
  ]
  test.each(sample(cases, 5))(
    '%s and run again, an import loads each row once',
    async (_, broken) => {
      const project = await newProject(database.store)
      const text = toLines(events(4))
      await expect(broken(project, text)).rejects.toThrow()
      const loaded = (await paths(project)).length
      const { report } = await importLines(database.store, text, into(project))
      expect(await paths(project)).toEqual(['/10', '/11', '/12', '/13'])
      // Rows of the interrupted chunk that the loader finishes first count as duplicates.
      expect(report).toMatchObject({ received: 4, rejected: 0, users: 2, sessions: 2 })
      expect(report.duplicates).toBeGreaterThanOrEqual(loaded)
      expect([report.events + report.duplicates, report.first, report.last]).toEqual([
        4,
        moment(0),
        moment(3),
      ])
      const third = await importLines(database.store, text, into(project))
      const again = { ...counts(0, 4), ...NONE, users: 2, sessions: 2 }
      expect(third.report).toEqual({ ...again, first: moment(0), last: moment(3) })
      await expectConsistentFacts(database.store, project.id)
      expect(await listLeftovers(database.store)).toEqual([])
    },
  )

  test('while it reports rejected rows, it reports them again', async () => {
    const project = await newProject(database.store)
    const text = toLines([...events(1), 'bad row', ...events(1, 1)])
    const onRejected = (): never => {
      throw failure
    }
    await expect(importLines(database.store, text, into(project, { onRejected }))).rejects.toBe(
      failure,
    )
    const { report, rejections } = await importLines(database.store, text, into(project))
    expect(rejections).toEqual([{ row: 2, reason: 'is not valid JSON', line: 'bad row' }])
    expect(report.received).toBe(3)
    expect(await paths(project)).toEqual(['/10', '/11'])
  })
})

thoroughTest(
  'the result does not depend on how the bytes arrive, or on the size of chunks',
  async () => {
    const project = await newProject(database.store)
    const text = toLines(events(6))
    const first = await importLines(database.store, text, into(project))
    expect(first.report).toMatchObject(counts(6))
    for (const [sizes, chunkSize] of [
      [[1], CHUNK],
      [[7, 100, 3], CHUNK],
      [[CHUNK], 10 * CHUNK],
      [[1_000], CHUNK / 2],
    ] as const) {
      const { report } = await importLines(
        database.store,
        splitIntoChunks(text, sizes),
        into(project, { chunkSize }),
      )
      expect({ sizes, ...report }).toMatchObject({ sizes, ...counts(0, 6) })
    }
    expect(await readFacts(database.store, project.id)).toHaveLength(2)
  },
)

thoroughTest(
  'all rows are loaded for another identity, another project, and a project created again',
  async () => {
    const { store } = database
    const project = await newProject(store)
    const text = toLines(events(4))
    const importTo = async (to: StoredProject, identity: string): Promise<unknown> => {
      const { report } = await importLines(store, text, into(to, { identity }))
      return [report.events, report.duplicates]
    }
    expect(await importTo(project, 'a')).toEqual([4, 0])
    expect(await importTo(project, 'a')).toEqual([0, 4])
    expect(await importTo(project, 'b')).toEqual([4, 0])
    expect(await importTo(await newProject(store), 'a')).toEqual([4, 0])
    await deleteProject(store, project.id)
    expect(await importTo(await newProject(store, { id: project.id }), 'a')).toEqual([4, 0])
    expect(await paths(project)).toHaveLength(4)
  },
)
