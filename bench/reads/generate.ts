/** Fills a data folder with a year of events of 201 projects. */
import { join, sql, statement, uint32, type Sql } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import { findLoad, NO_ROWS, recordLoaded, STEP } from '../../src/ingest/loader/load-log.js'
import { EMPTY_REPORT } from '../../src/ingest/loader/load-report.js'
import { createProject } from '../../src/projects/store.js'
import {
  INSERT_USERS,
  insertEvents,
  insertSessions,
  computeScale,
  type Slice,
} from './generate-sql.js'
import { measureMs } from '../shared/figures.js'
import { rebuildRollups } from '../../test/support/store/loading.js'

export const LARGE = 'large'
export const SMALL = 'small-001'

const PROJECTS = [
  LARGE,
  ...Array.from({ length: 200 }, (_, i) => `small-${String(i + 1).padStart(3, '0')}`),
]
const YEAR_START = new Date('2025-01-01T00:00:00Z')
/** Visits per statement. */
const SLICE_VISITS = 1_000_000
/** A copy of `sessions` that feeds no view: the rollups are computed once, at the end. */
const COPY = sql`bench_sessions`

/**
 * Generates about this many events, unless the store has them already.
 *
 * @throws Error when the store has other events
 */
export async function generateYear(store: Store, events: number): Promise<void> {
  const { writer } = store
  const batch = `bench-${events}`
  if ((await findLoad(writer, batch)) !== undefined) return
  if ((await countRows(store, sql`events`)) > 0) {
    throw new Error('the data folder has other events, or only a part of these: empty it')
  }
  for (const id of PROJECTS) {
    await createProject(store, { id, name: id, domain: `${id}.example` }, YEAR_START)
  }
  note(`generated in ${seconds(await measureMs(() => insertFacts(store, events)))} s`)
  const rebuilt = await measureMs(() => rebuildRollups(writer, {}))
  note(`rollups computed in ${seconds(rebuilt)} s`)
  // Recorded as the first load, so that later loads continue from it. It also marks the generation as complete.
  const report = { ...EMPTY_REPORT, events: await countRows(store, sql`events`) }
  await recordLoaded(writer, { number: 1, batch, step: STEP.staged, slices: 1 }, report, NO_ROWS)
}

async function insertFacts({ admin }: Store, events: number): Promise<void> {
  const run = (fragment: Sql): Promise<void> => admin.execute(statement(fragment))
  const scale = computeScale(events)
  await run(sql`CREATE TABLE ${COPY} AS sessions`)
  for (const slice of splitVisits(scale.visits)) {
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

function splitVisits(visits: number): readonly Slice[] {
  return Array.from({ length: Math.ceil(visits / SLICE_VISITS) }, (_, i) => ({
    from: i * SLICE_VISITS,
    count: Math.min(SLICE_VISITS, visits - i * SLICE_VISITS),
  }))
}

async function countRows({ admin }: Store, table: Sql): Promise<number> {
  const { rows } = await admin.query<{ count: number }>(
    statement(sql`SELECT count() AS count FROM ${table}`),
  )
  return rows[0]?.count ?? 0
}

const note = (text: string): void => console.error(text)
const seconds = (ms: number): string => (ms / 1_000).toFixed(1)
