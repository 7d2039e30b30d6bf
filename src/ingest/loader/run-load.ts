/** Runs one load: the order of its steps, from the rows of the inbox to published events. */
import type { Connection } from '../../clickhouse/connection.js'
import { join, sql, statement, type Sql } from '../../clickhouse/sql.js'
import { removeUsersFromRollups } from '../../rollups/remove-users.js'
import type { Geoip } from '../enrichment/geoip.js'
import { dropBatch } from '../inbox/batches.js'
import { ONE_BLOCK } from '../inbox/one-block.js'
import { recordLoaded, recordStep, STEP, type Load } from './load-log.js'
import type { LoadReport } from './load-report.js'
import { buildFromClause, parseRange } from './load-source.js'
import type { LoaderContext } from './loader-context.js'
import { enrichRows } from './steps/enrich.js'
import { findExcludedEvents } from './steps/excluded-events.js'
import { nameLoadTables, type LoadTables } from './steps/load-tables.js'
import { parseRows } from './steps/parse-rows.js'
import {
  buildInserts,
  deleteMovedEvents,
  insertRejections,
  selectMonthsOfMovedEvents,
} from './steps/publish.js'
import { findNearbySessions } from './steps/nearby-sessions.js'
import { buildSessions, cutRuns, findPreviousStates, moveEvents } from './steps/sessions.js'
import { findStaleRollupUsers } from './steps/stale-rollup-users.js'
import { keepRows, numberUsers, saltDays } from './steps/users.js'
import { dropLoadedParts, moveCursor } from './stream.js'
import { isRefused, selectRows, surveyLoad, surveyRefusedLoad } from './survey.js'

/**
 * Runs a load, or resumes it after the last step it reached. Everything is computed into tables of the load
 * before anything is published; from then on only those tables are read.
 */
export async function runLoad(
  writer: Connection,
  load: Load,
  { geoip, maxEventAgeDays }: LoaderContext,
): Promise<LoadReport> {
  const tables = nameLoadTables(load.number)
  if (load.step < STEP.staged) {
    await dropLoadTables(writer, tables)
    const rows = buildFromClause(load.batch)
    await writer.execute(statement(parseRows(tables, rows, maxEventAgeDays)))
    if (await isRefused(writer, tables, load.batch)) return refuseLoad(writer, tables, load)
    await stageRows(writer, tables, load.number, geoip)
    await recordStep(writer, load, STEP.staged)
  }
  const { report, movesEvents } = await surveyLoad(writer, tables)
  await publishLoad(writer, tables, load, movesEvents)
  return closeLoad(writer, tables, load, report)
}

/**
 * Computes the events, users and sessions of the parsed rows into the tables of the load, which no query reads.
 *
 * @param isDryRun whether nothing will be published; days then get no salts, because salts are stored for good
 */
export async function stageRows(
  writer: Connection,
  tables: LoadTables,
  load: number,
  geoip: Geoip | undefined,
  isDryRun = false,
): Promise<void> {
  await enrichRows(writer, tables, geoip)
  const steps = [
    findExcludedEvents(tables),
    ...(isDryRun ? [] : [saltDays(tables)]),
    keepRows(tables),
    numberUsers(tables, load),
    findNearbySessions(tables),
    cutRuns(tables),
    buildSessions(tables, load),
    findPreviousStates(tables),
    moveEvents(tables, load),
  ]
  for (const step of steps) await writer.execute(statement(step))
}

/**
 * Publishes a staged load. Every statement may be repeated. What queries read is written last, and moved events are
 * deleted just before they are written again, so that queries miss them for as short a time as possible.
 */
async function publishLoad(
  writer: Connection,
  tables: LoadTables,
  { number, batch }: Load,
  movesEvents: boolean,
): Promise<void> {
  for (const [name, insert] of Object.entries(buildInserts(tables))) {
    if (name === 'events' && movesEvents) await removeMovedEvents(writer, tables, number)
    await insertOnce(writer, insert, `load-${number}-${name}`)
  }
  // Rejected rows of the stream are kept under one name.
  const rejectionBatch = parseRange(batch) === undefined ? batch : ''
  await publishRejections(writer, tables, number, rejectionBatch)
  if (movesEvents) {
    await dropLoadTables(writer, { staleRollupUsers: tables.staleRollupUsers })
    await writer.execute(statement(findStaleRollupUsers(tables)))
    await removeUsersFromRollups(writer, tables.staleRollupUsers, number)
  }
}

/** Deletes the stored events of changed sessions, only in the months that have some: the others are left as they are. */
async function removeMovedEvents(
  writer: Connection,
  tables: LoadTables,
  load: number,
): Promise<void> {
  const months = await selectRows<{ month: number }>(writer, selectMonthsOfMovedEvents(tables))
  for (const { month } of months) {
    await writer.execute(statement(deleteMovedEvents(tables, load, month)))
  }
}

/** Stores the rejected rows, under the name `batch`. */
const publishRejections = (
  writer: Connection,
  tables: LoadTables,
  load: number,
  batch: string,
): Promise<void> => insertOnce(writer, insertRejections(tables, batch), `load-${load}-rejections`)

/**
 * Runs an insert that ClickHouse stores once even if it is sent several times: it recognises the block by its token. The
 * materialized views deduplicate on their own, because a crash may come between the table and its views.
 */
const insertOnce = (writer: Connection, insert: Sql, token: string): Promise<void> =>
  writer.execute(statement(insert), {
    ...ONE_BLOCK,
    insert_deduplication_token: token,
    deduplicate_blocks_in_dependent_materialized_views: 1,
  })

/** Ends the load of a strict batch with invalid rows: only the reasons are published. */
async function refuseLoad(writer: Connection, tables: LoadTables, load: Load): Promise<LoadReport> {
  await publishRejections(writer, tables, load.number, load.batch)
  return closeLoad(writer, tables, load, await surveyRefusedLoad(writer, tables), sql`true`)
}

/**
 * Records the end of a load, and drops what only the load needed.
 *
 * @param isLeft the condition for rows that a repeated import of the source tries again
 */
async function closeLoad(
  writer: Connection,
  tables: LoadTables,
  load: Load,
  report: LoadReport,
  isLeft = sql`fate = 'rejected'`,
): Promise<LoadReport> {
  const range = parseRange(load.batch)
  if (range !== undefined) await moveCursor(writer, range.upTo, load.number)
  const rowsLeft =
    range === undefined
      ? sql`(SELECT groupArray(row) FROM ${tables.rows} WHERE ${isLeft})`
      : sql`emptyArrayUInt64()`
  await recordLoaded(writer, load, report, rowsLeft)
  await clearLoad(writer, load)
  return report
}

/**
 * Drops the tables of a finished load, and then its rows of the inbox. The rows go last: a loader that finds them clears
 * the load again.
 */
export async function clearLoad(writer: Connection, { number, batch }: Load): Promise<void> {
  await dropLoadTables(writer, nameLoadTables(number))
  if (parseRange(batch) !== undefined) await dropLoadedParts(writer)
  else await dropBatch(writer, batch)
}

/** Drops tables at once, with SYNC: they hold IP addresses, which are never stored. */
async function dropLoadTables(writer: Connection, tables: Partial<LoadTables>): Promise<void> {
  const names = join(Object.values(tables))
  await writer.execute(statement(sql`DROP TABLE IF EXISTS ${names} SYNC`))
}
