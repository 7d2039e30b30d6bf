/** Loads a batch of the inbox: every row becomes at most one event, whatever breaks off in between. */
import type { Connection, Settings } from '../../clickhouse/connection.js'
import { sql, statement, string, type Sql } from '../../clickhouse/sql.js'
import {
  findLoad,
  findUnfinishedLoads,
  recordStep,
  startLoad,
  STEP,
  type Load,
  type LoadReport,
} from './log.js'
import { inserts, insertRejections, removeMovedEvents } from './publish.js'
import { readRows } from './rows.js'
import { buildSessions, cutRuns, findNearSessions, findPastStates, moveEvents } from './sessions.js'
import { keepRows, numberUsers, saltDays } from './users.js'

export interface LoadOptions {
  /** Loads nothing of the batch where a row of it is rejected. */
  readonly strict?: boolean
}

/**
 * Loads one batch, once: asked again it tells what it did. The caller holds the lease of the loader.
 *
 * Everything is computed into tables of the load first; once facts are written, nothing but those is
 * read any more. The writing is a handful of inserts that the store takes once however often they come.
 */
export async function loadBatch(
  writer: Connection,
  batch: string,
  { strict = false }: LoadOptions = {},
): Promise<LoadReport> {
  const done = await findLoad(writer, batch)
  return done ?? finish(writer, await startLoad(writer, batch), strict)
}

/**
 * Finishes what an earlier loader left: its load, and batches that it never came to. The caller holds
 * the lease of the loader.
 *
 * @param except a batch that the caller goes on to load itself
 */
export async function resumeLoads(writer: Connection, except = ''): Promise<void> {
  for (const load of await findUnfinishedLoads(writer)) await finish(writer, load)
  const waiting = await writer.query<{ batch: string }>(
    statement(
      sql`SELECT DISTINCT batch FROM inbox WHERE batch != ${string(except)} ORDER BY batch`,
    ),
  )
  for (const { batch } of waiting.rows) await loadBatch(writer, batch)
}

async function finish(writer: Connection, load: Load, strict = false): Promise<LoadReport> {
  if (load.step < STEP.staged) {
    await writer.execute(statement(DROP_TABLES))
    await writer.execute(statement(readRows(load.batch)))
    const fates = await countFates(writer)
    if (strict && fates.rejected > 0) return abandon(writer, load, fates)
    for (const stage of stages(load.number)) await writer.execute(statement(stage))
    await recordStep(writer, load, STEP.staged)
  }
  await publish(writer, load)
  const { rejected, excluded, received } = await countFates(writer)
  const events = await count(writer, sql`SELECT count() AS n FROM load_kept`)
  const duplicates = received - events - excluded - rejected
  return close(writer, load, { received, events, duplicates, excluded, rejected })
}

const stages = (load: number): readonly Sql[] => [
  saltDays,
  keepRows,
  numberUsers(load),
  findNearSessions,
  cutRuns,
  buildSessions(load),
  findPastStates,
  moveEvents(load),
]

/** One block an insert: all of it is there, or nothing, and its token tells whether. */
export const ONE_BLOCK: Settings = {
  min_insert_block_size_rows: '1000000000',
  min_insert_block_size_bytes: '0',
  max_insert_threads: '1',
  max_partitions_per_insert_block: '0',
}

async function publish(writer: Connection, { number, batch }: Load): Promise<void> {
  const moved = await count(writer, sql`SELECT countIf(is_moved) AS n FROM load_past`)
  if (moved > 0) await writer.execute(statement(removeMovedEvents(number)))
  const all = { ...inserts, rejections: insertRejections(batch) }
  for (const [name, insert] of Object.entries(all)) {
    await insertOnce(writer, insert, `load-${number}-${name}`)
  }
}

const insertOnce = (writer: Connection, insert: Sql, token: string): Promise<void> =>
  writer.execute(statement(insert), { ...ONE_BLOCK, insert_deduplication_token: token })

/** Ends a load of which nothing is to become visible but why. */
async function abandon(writer: Connection, load: Load, fates: Fates): Promise<LoadReport> {
  await insertOnce(writer, insertRejections(load.batch), `load-${load.number}-rejections`)
  return close(writer, load, { ...fates, events: 0, duplicates: 0 })
}

async function close(writer: Connection, load: Load, report: LoadReport): Promise<LoadReport> {
  await recordStep(writer, load, STEP.loaded, report)
  await writer.execute(statement(sql`ALTER TABLE inbox DROP PARTITION ${string(load.batch)}`))
  await writer.execute(statement(DROP_TABLES))
  return report
}

type Fates = Pick<LoadReport, 'received' | 'excluded' | 'rejected'>

async function countFates(writer: Connection): Promise<Fates> {
  const { rows } = await writer.query<Fates>(
    statement(sql`
SELECT count() AS received, countIf(fate = 'excluded') AS excluded, countIf(fate = 'rejected') AS rejected
FROM load_rows`),
  )
  return rows[0] ?? { received: 0, excluded: 0, rejected: 0 }
}

async function count(writer: Connection, query: Sql): Promise<number> {
  const { rows } = await writer.query<{ n: number }>(statement(query))
  return rows[0]?.n ?? 0
}

/** The tables of a load hold addresses, which are kept nowhere. */
const DROP_TABLES = sql`DROP TABLE IF EXISTS
  load_rows, load_kept, load_users, load_near, load_items, load_sessions, load_past, load_moved SYNC`
