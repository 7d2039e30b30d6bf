/** Fills a data folder with a year of events of 201 projects. */
import { availableParallelism } from 'node:os'
import type { Settings } from '../../src/clickhouse/connection.js'
import {
  identifier,
  join,
  sql,
  statement,
  string,
  uint32,
  uint64,
  type Sql,
} from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import { findLoad, NO_ROWS, recordLoaded, STEP } from '../../src/ingest/loader/load-log.js'
import { EMPTY_REPORT } from '../../src/ingest/loader/load-report.js'
import { takeBatch } from '../../src/ingest/loader/load-source.js'
import { createProject, listProjects } from '../../src/projects/store.js'
import {
  INDEX_USERS,
  INSERT_USERS,
  insertEvents,
  insertSessions,
  computeScale,
  type Returning,
  type Scale,
  type Slice,
} from './generate-sql.js'
import { measureMs } from '../shared/figures.js'
import { pairLargeProjects, rebuildRollups } from '../../test/support/store/loading.js'

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
/** One thread of an insert per core. */
const PARALLEL = { max_insert_threads: String(availableParallelism()) }

/** Names the generated year of a scale. */
const nameYear = ({ events, returning }: Scale): string =>
  returning === 'often' ? String(events) : `${events}_${returning}`
/** The first visits of the slices that are generated. It exists until all is. */
const nameProgress = (scale: Scale): string => `bench_slices_${nameYear(scale)}`

/**
 * Generates about this many events, unless the store has them already. After an interruption it goes on with the next slice.
 *
 * @param returning how users come back
 * @throws Error when the store has other events
 */
export async function generateYear(
  store: Store,
  events: number,
  returning?: Returning,
): Promise<void> {
  const { writer } = store
  const scale = computeScale(events, returning)
  const batch = `bench-${nameYear(scale)}`
  const progress = nameProgress(scale)
  if ((await findLoad(writer, batch)) !== undefined) return
  if (!(await exists(store, progress)) && (await countRows(store, sql`events`)) > 0) {
    throw new Error('the data folder has other events: empty it')
  }
  await createProjects(store)
  note(`generated in ${seconds(await measureMs(() => insertFacts(store, scale)))} s`)
  const rebuilt = await measureMs(() => rebuildRollups(writer, {}))
  note(`rollups computed in ${seconds(rebuilt)} s`)
  // The service counts the pairs of large projects after a while.
  const paired = await measureMs(() => pairLargeProjects(store))
  note(`pairs computed in ${seconds(paired)} s`)
  // Recorded as the first load, so that later loads continue from it. It also marks the generation as complete.
  const report = { ...EMPTY_REPORT, events: await countRows(store, sql`events`) }
  await recordLoaded(
    writer,
    { number: 1, ...takeBatch(batch), step: STEP.staged, slices: 1 },
    report,
    NO_ROWS,
  )
  await run(store, sql`DROP TABLE ${COPY}, ${identifier(progress)} SYNC`)
}

async function createProjects(store: Store): Promise<void> {
  const created = new Set((await listProjects(store.reader)).map(({ id }) => id))
  for (const id of PROJECTS.filter((one) => !created.has(one))) {
    await createProject(store, { id, name: id, domain: `${id}.example` }, YEAR_START)
  }
}

async function insertFacts(store: Store, scale: Scale): Promise<void> {
  await insertVisits(store, scale, identifier(nameProgress(scale)))
  const months = await readRows<{ month: number }>(
    store,
    sql`SELECT DISTINCT toYYYYMM(start_at) AS month FROM ${COPY} ORDER BY month`,
  )
  const replaced = months.map(({ month }) => sql`REPLACE PARTITION ${uint32(month)} FROM ${COPY}`)
  await run(store, sql`ALTER TABLE sessions ${join(replaced)}`)
  for (const table of [sql`users`, sql`user_keys`, sql`user_counts`]) {
    await run(store, sql`TRUNCATE TABLE ${table}`)
  }
  for (const insert of [INSERT_USERS, ...INDEX_USERS]) await run(store, insert)
}

async function insertVisits(store: Store, scale: Scale, progress: Sql): Promise<void> {
  await run(
    store,
    sql`CREATE TABLE IF NOT EXISTS ${progress} (first UInt64) ENGINE = MergeTree ORDER BY first`,
  )
  await run(store, sql`CREATE TABLE IF NOT EXISTS ${COPY} AS sessions`)
  const rows = await readRows<{ first: number }>(
    store,
    sql`SELECT toFloat64(first) AS first FROM ${progress}`,
  )
  const done = new Set(rows.map(({ first }) => first))
  const isResumed = (await countRows(store, sql`events`)) > 0
  const missing = splitVisits(scale.visits).filter(({ from }) => !done.has(from))
  for (const [i, slice] of missing.entries()) {
    // Only the first can have been interrupted.
    if (i === 0 && isResumed) await deleteVisits(store, slice)
    await run(store, insertEvents(scale, slice), PARALLEL)
    await run(store, insertSessions(COPY, scale, slice), PARALLEL)
    await run(store, sql`INSERT INTO ${progress} (first) SELECT ${uint64(slice.from)}`)
    note(`${slice.from + slice.count} of ${scale.visits} visits`)
  }
}

/** Deletes what an interrupted run has inserted of a slice. Sessions are numbered as their visits, from 1. */
async function deleteVisits(store: Store, { from, count }: Slice): Promise<void> {
  for (const table of [sql`events`, COPY]) {
    await run(
      store,
      sql`DELETE FROM ${table} WHERE session > ${uint64(from)} AND session <= ${uint64(from + count)}`,
    )
  }
}

function splitVisits(visits: number): readonly Slice[] {
  return Array.from({ length: Math.ceil(visits / SLICE_VISITS) }, (_, i) => ({
    from: i * SLICE_VISITS,
    count: Math.min(SLICE_VISITS, visits - i * SLICE_VISITS),
  }))
}

async function exists(store: Store, table: string): Promise<boolean> {
  const rows = await readRows(
    store,
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND name = ${string(table)}`,
  )
  return rows.length > 0
}

async function countRows(store: Store, table: Sql): Promise<number> {
  const rows = await readRows<{ count: number }>(store, sql`SELECT count() AS count FROM ${table}`)
  return rows[0]?.count ?? 0
}

const run = ({ admin }: Store, fragment: Sql, settings?: Settings): Promise<void> =>
  admin.execute(statement(fragment), settings)

const readRows = async <T>({ admin }: Store, fragment: Sql): Promise<readonly T[]> =>
  (await admin.query<T>(statement(fragment))).rows

const note = (text: string): void => console.error(text)
const seconds = (ms: number): string => (ms / 1_000).toFixed(1)
