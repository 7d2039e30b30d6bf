/** Fills a data folder with a year of 201 projects, and says what that came to. */
import { join, sql, statement, uint32, type Sql } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import { findLoad, recordLoaded, STEP } from '../../src/ingest/loader/load-log.js'
import { EMPTY_REPORT } from '../../src/ingest/loader/load-report.js'
import { createProject } from '../../src/projects/store.js'
import { INSERT_USERS, insertEvents, insertSessions, scaleOf, type Slice } from './generate-sql.js'
import { timed } from '../shared/figures.js'
import { rebuildRollups } from '../../test/support/store/loading.js'

export const LARGE = 'large'
export const SMALL = 'small-001'

const PROJECTS = [
  LARGE,
  ...Array.from({ length: 200 }, (_, i) => `small-${String(i + 1).padStart(3, '0')}`),
]
const YEAR_START = new Date('2025-01-01T00:00:00Z')
/** Visits that are generated at once. */
const SLICE = 1_000_000
/** A table of the form of `sessions` that no view reads: the rollups are computed once, at the end. */
const COPY = sql`bench_sessions`

/**
 * Generates about so many events, unless they are there.
 *
 * @throws Error when the store holds anything else.
 */
export async function generate(store: Store, events: number): Promise<void> {
  const { writer } = store
  const batch = `bench-${events}`
  if ((await findLoad(writer, batch)) !== undefined) return
  if ((await countOf(store, sql`events`)) > 0) {
    throw new Error('the data folder holds other events, or generating them was stopped: empty it')
  }
  for (const id of PROJECTS) {
    await createProject(store, { id, name: id, domain: `${id}.example` }, YEAR_START)
  }
  note(`generated in ${seconds(await timed(() => insertFacts(store, events)))} s`)
  const rebuilt = await timed(() => rebuildRollups(writer, {}))
  note(`rollups computed in ${seconds(rebuilt)} s`)
  // It is the first load, so that others can go on from here; and that it is there says all this is done.
  const report = { ...EMPTY_REPORT, events: await countOf(store, sql`events`) }
  await recordLoaded(
    writer,
    { number: 1, batch, step: STEP.staged },
    report,
    sql`emptyArrayUInt64()`,
  )
}

async function insertFacts({ admin }: Store, events: number): Promise<void> {
  const run = (fragment: Sql): Promise<void> => admin.execute(statement(fragment))
  const scale = scaleOf(events)
  await run(sql`CREATE TABLE ${COPY} AS sessions`)
  for (const slice of slicesOf(scale.visits)) {
    await run(insertEvents(scale, slice))
    await run(insertSessions(COPY, scale, slice))
    note(`${slice.from + slice.count} of ${scale.visits} visits`)
  }
  const { rows } = await admin.query<{ month: number }>(
    statement(sql`SELECT DISTINCT toYYYYMM(start_at) AS month FROM ${COPY} ORDER BY month`),
  )
  const attached = rows.map(({ month }) => sql`ATTACH PARTITION ${uint32(month)} FROM ${COPY}`)
  await run(sql`ALTER TABLE sessions ${join(attached)}`)
  await run(sql`DROP TABLE ${COPY} SYNC`)
  await run(INSERT_USERS)
}

function slicesOf(visits: number): readonly Slice[] {
  return Array.from({ length: Math.ceil(visits / SLICE) }, (_, i) => ({
    from: i * SLICE,
    count: Math.min(SLICE, visits - i * SLICE),
  }))
}

async function countOf({ admin }: Store, table: Sql): Promise<number> {
  const { rows } = await admin.query<{ count: number }>(
    statement(sql`SELECT count() AS count FROM ${table}`),
  )
  return rows[0]?.count ?? 0
}

const note = (text: string): void => console.error(text)
const seconds = (ms: number): string => (ms / 1_000).toFixed(1)
