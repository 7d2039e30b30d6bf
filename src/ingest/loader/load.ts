/** Loads a batch of the inbox: every row becomes at most one event, whatever breaks off in between. */
import type { Connection, Settings } from '../../clickhouse/connection.js'
import { join, sql, statement, string, type Sql } from '../../clickhouse/sql.js'
import {
  findLoad,
  findUnfinishedLoads,
  NOTHING,
  recordStep,
  startLoad,
  STEP,
  type Load,
  type LoadReport,
} from './log.js'
import { inserts, insertRejections, removeMovedEvents } from './publish.js'
import { loseUsers } from '../../rollups/lose-users.js'
import { findLost } from './lost.js'
import { findUnfinishedRemovals, isOfUser } from './removal/log.js'
import { finishProject } from './removal/project.js'
import { finishUser } from './removal/user.js'
import { readRows } from './rows.js'
import { buildSessions, cutRuns, findNearSessions, findPastStates, moveEvents } from './sessions.js'
import { tablesOf, type LoadTables } from './tables.js'
import { keepRows, numberUsers, saltDays } from './users.js'

/**
 * Loads one batch, once: asked again it tells what it did. The caller holds the lease of the loader.
 *
 * Everything is computed into tables of the load first; once facts are written, nothing but those is
 * read any more. The writing is a handful of inserts that the store takes once however often they come.
 */
export async function loadBatch(writer: Connection, batch: string): Promise<LoadReport> {
  // What is staged already has its numbers of users: it is written before others are given.
  await finishUnfinished(writer)
  const done = await findLoad(writer, batch)
  if (done === undefined) return finish(writer, await startLoad(writer, batch))
  await clear(writer, done.load)
  return done.report
}

/** Finishes what was begun and broken off: a removal or a load. The caller holds the lease of the loader. */
export async function finishUnfinished(writer: Connection): Promise<void> {
  for (const removal of await findUnfinishedRemovals(writer)) {
    await (isOfUser(removal) ? finishUser : finishProject)(writer, removal)
  }
  for (const load of await findUnfinishedLoads(writer)) await finish(writer, load)
}

/**
 * Finishes what an earlier loader left: its load, and batches that it never came to. The caller holds
 * the lease of the loader.
 */
export async function resumeLoads(writer: Connection): Promise<void> {
  await finishUnfinished(writer)
  const waiting = await writer.query<{ batch: string }>(
    statement(sql`SELECT DISTINCT batch FROM inbox ORDER BY batch`),
  )
  for (const { batch } of waiting.rows) await loadBatch(writer, batch)
}

async function finish(writer: Connection, load: Load): Promise<LoadReport> {
  const tables = tablesOf(load.number)
  if (load.step < STEP.staged) {
    await dropTables(writer, tables)
    await writer.execute(statement(readRows(tables, load.batch)))
    if (await isRefused(writer, tables, load)) return refuse(writer, tables, load)
    for (const stage of stages(tables, load)) await writer.execute(statement(stage))
    await recordStep(writer, load, STEP.staged)
  }
  const { moved, ...report } = await survey(writer, tables)
  await publish(writer, tables, load, moved > 0)
  return close(writer, load, report)
}

const stages = (tables: LoadTables, { number }: Load): readonly Sql[] => [
  saltDays(tables),
  keepRows(tables),
  numberUsers(tables, number),
  findNearSessions(tables),
  cutRuns(tables),
  buildSessions(tables, number),
  findPastStates(tables),
  moveEvents(tables, number),
]

/** One block an insert: all of it is there, or nothing, and its token tells whether. */
export const ONE_BLOCK: Settings = {
  min_insert_block_size_rows: '1000000000',
  min_insert_block_size_bytes: '0',
  max_insert_threads: '1',
  max_partitions_per_insert_block: '0',
}

async function publish(
  writer: Connection,
  tables: LoadTables,
  { number, batch }: Load,
  isMoving: boolean,
): Promise<void> {
  if (isMoving) await writer.execute(statement(removeMovedEvents(tables, number)))
  const all = { ...inserts(tables), rejections: insertRejections(tables, batch) }
  for (const [name, insert] of Object.entries(all)) {
    await insertOnce(writer, insert, `load-${number}-${name}`)
  }
  if (isMoving) {
    await dropTables(writer, { lost: tables.lost })
    await writer.execute(statement(findLost(tables)))
    await loseUsers(writer, tables.lost, number)
  }
}

/** The views behind a table take a block once as well, also where the table has taken it before. */
const insertOnce = (writer: Connection, insert: Sql, token: string): Promise<void> =>
  writer.execute(statement(insert), {
    ...ONE_BLOCK,
    insert_deduplication_token: token,
    deduplicate_blocks_in_dependent_materialized_views: 1,
  })

/** Ends a load of which nothing is to become visible but why. */
async function refuse(writer: Connection, tables: LoadTables, load: Load): Promise<LoadReport> {
  await insertOnce(writer, insertRejections(tables, load.batch), `load-${load.number}-rejections`)
  const [fates] = await rowsOf<Fates>(writer, sql`SELECT ${FATES} FROM ${tables.rows}`)
  return close(writer, load, { ...NOTHING, ...fates })
}

async function close(writer: Connection, load: Load, report: LoadReport): Promise<LoadReport> {
  await recordStep(writer, load, STEP.loaded, report)
  await clear(writer, load)
  return report
}

/** Takes away what is needed no more of a batch that is loaded; its rows last, for they tell of it. */
async function clear(writer: Connection, { number, batch }: Load): Promise<void> {
  await dropTables(writer, tablesOf(number))
  await writer.execute(statement(sql`ALTER TABLE inbox DROP PARTITION ${string(batch)}`))
}

type Fates = Pick<LoadReport, 'received' | 'excluded' | 'rejected'>

const FATES = sql`
  count() AS received, countIf(fate = 'excluded') AS excluded, countIf(fate = 'rejected') AS rejected`

/** Whether the batch is to be loaded whole or not at all, and cannot be loaded whole. */
async function isRefused(
  writer: Connection,
  tables: LoadTables,
  { batch }: Load,
): Promise<boolean> {
  const rows = await rowsOf(
    writer,
    sql`
SELECT 1 FROM ${tables.rows}
WHERE fate = 'rejected' AND (SELECT max(strict) FROM inbox WHERE batch = ${string(batch)})
LIMIT 1`,
  )
  return rows.length > 0
}

/** What a staged load comes to, and how many stored sessions it moves. */
async function survey(
  writer: Connection,
  tables: LoadTables,
): Promise<LoadReport & { readonly moved: number }> {
  const [counts] = await rowsOf<LoadReport & { readonly moved: number }>(
    writer,
    sql`
SELECT
  ${FATES},
  (SELECT count() FROM ${tables.kept}) AS events,
  received - events - excluded - rejected AS duplicates,
  (SELECT countIf(is_moved) FROM ${tables.past}) AS moved
FROM ${tables.rows}`,
  )
  return counts ?? { ...NOTHING, moved: 0 }
}

const rowsOf = async <Row>(writer: Connection, query: Sql): Promise<readonly Row[]> =>
  (await writer.query<Row>(statement(query))).rows

/** The tables hold addresses, which are kept nowhere. */
async function dropTables(writer: Connection, tables: Partial<LoadTables>): Promise<void> {
  const all = join(Object.values(tables))
  await writer.execute(statement(sql`DROP TABLE IF EXISTS ${all} SYNC`))
}
