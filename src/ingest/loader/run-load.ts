/** Takes one load through its steps: reads and judges its rows, stages what they come to, publishes it. */
import type { Connection } from '../../clickhouse/connection.js'
import { join, sql, statement, type Sql } from '../../clickhouse/sql.js'
import { removeUsersFromRollups } from '../../rollups/remove-users.js'
import { dropBatch } from '../inbox/batches.js'
import { ONE_BLOCK } from '../inbox/one-block.js'
import { parseRange, buildFromClause } from './load-source.js'
import { recordLoaded, recordStep, STEP, type Load } from './load-log.js'
import { EMPTY_REPORT, parseReport, type LoadReport, type ReportRow } from './load-report.js'
import { enrichRows, type Geography } from './steps/enrich.js'
import { findStaleRollupUsers } from './steps/stale-rollup-users.js'
import { buildInserts, insertRejections, removeMovedEvents } from './steps/publish.js'
import { parseRows } from './steps/parse-rows.js'
import {
  buildSessions,
  cutRuns,
  findNearbySessions,
  findPreviousStates,
  moveEvents,
} from './steps/sessions.js'
import { dropLoadedParts, moveCursor } from './stream.js'
import { nameLoadTables, type LoadTables } from './steps/load-tables.js'
import { findExcludedEvents } from './steps/excluded-events.js'
import { keepRows, numberUsers, saltDays } from './steps/users.js'

/** Finishes a load from the step that it has reached; tells what became of its rows. */
export async function runLoad(
  writer: Connection,
  load: Load,
  geoip: Geography,
): Promise<LoadReport> {
  const tables = nameLoadTables(load.number)
  if (load.step < STEP.staged) {
    await dropTables(writer, tables)
    await writer.execute(statement(parseRows(tables, buildFromClause(load.batch))))
    if (await isRefused(writer, tables, load)) return refuse(writer, tables, load)
    await stageRows(writer, tables, load.number, geoip)
    await recordStep(writer, load, STEP.staged)
  }
  const { moved, report } = await surveyLoad(writer, tables)
  await publish(writer, tables, load, moved > 0)
  return close(writer, tables, load, report)
}

/**
 * Computes all that rows come to, which are in the table `rows` already; nothing is visible of it yet.
 *
 * @param isTrial nothing will be: then no day gets its salt
 */
export async function stageRows(
  writer: Connection,
  tables: LoadTables,
  number: number,
  geoip: Geography,
  isTrial = false,
): Promise<void> {
  await enrichRows(writer, tables, geoip)
  const stages = [
    findExcludedEvents(tables),
    ...(isTrial ? [] : [saltDays(tables)]),
    keepRows(tables),
    numberUsers(tables, number),
    findNearbySessions(tables),
    cutRuns(tables),
    buildSessions(tables, number),
    findPreviousStates(tables),
    moveEvents(tables, number),
  ]
  for (const one of stages) await writer.execute(statement(one))
}

async function publish(
  writer: Connection,
  tables: LoadTables,
  { number, batch }: Load,
  isMoving: boolean,
): Promise<void> {
  if (isMoving) await writer.execute(statement(removeMovedEvents(tables, number)))
  const all = { ...buildInserts(tables), rejections: insertRejections(tables, keeperOf(batch)) }
  for (const [name, insert] of Object.entries(all)) {
    await insertOnce(writer, insert, `load-${number}-${name}`)
  }
  if (isMoving) {
    await dropTables(writer, { staleRollupUsers: tables.staleRollupUsers })
    await writer.execute(statement(findStaleRollupUsers(tables)))
    await removeUsersFromRollups(writer, tables.staleRollupUsers, number)
  }
}

/** The batch under which rejected rows are kept: those of the stream all under one. */
const keeperOf = (batch: string): string => (parseRange(batch) === undefined ? batch : '')

/** The token tells whether the block is there; the views behind a table take a block once as well, also where the table has taken it before. */
const insertOnce = (writer: Connection, insert: Sql, token: string): Promise<void> =>
  writer.execute(statement(insert), {
    ...ONE_BLOCK,
    insert_deduplication_token: token,
    deduplicate_blocks_in_dependent_materialized_views: 1,
  })

/** Ends a load of which nothing is to become visible but why. */
async function refuse(writer: Connection, tables: LoadTables, load: Load): Promise<LoadReport> {
  await insertOnce(writer, insertRejections(tables, load.batch), `load-${load.number}-rejections`)
  const [fates] = await selectRows<Pick<LoadReport, 'received' | 'excluded' | 'rejected'>>(
    writer,
    sql`
SELECT count() AS received, countIf(fate IN ('ip', 'country')) AS excluded, countIf(fate = 'rejected') AS rejected
FROM ${tables.rows}`,
  )
  return close(writer, tables, load, { ...EMPTY_REPORT, ...fates }, sql`true`)
}

/** @param isLeft which rows an import that is run again is to try again */
async function close(
  writer: Connection,
  tables: LoadTables,
  load: Load,
  report: LoadReport,
  isLeft = sql`fate = 'rejected'`,
): Promise<LoadReport> {
  const range = parseRange(load.batch)
  if (range !== undefined) await moveCursor(writer, range.upTo, load.number)
  const left =
    range === undefined
      ? sql`(SELECT groupArray(row) FROM ${tables.rows} WHERE ${isLeft})`
      : sql`emptyArrayUInt64()`
  await recordLoaded(writer, load, report, left)
  await clearLoad(writer, load)
  return report
}

/** Takes away what is needed no more of a batch that is loaded; its rows last, for they tell of it. */
export async function clearLoad(writer: Connection, { number, batch }: Load): Promise<void> {
  await dropTables(writer, nameLoadTables(number))
  if (parseRange(batch) !== undefined) await dropLoadedParts(writer)
  else await dropBatch(writer, batch)
}

/** Whether the batch is to be loaded whole or not at all, and cannot be loaded whole. */
async function isRefused(
  writer: Connection,
  tables: LoadTables,
  { batch }: Load,
): Promise<boolean> {
  const rows = await selectRows(
    writer,
    sql`
SELECT 1 FROM ${tables.rows}
WHERE fate = 'rejected' AND (SELECT max(strict) ${buildFromClause(batch)})
LIMIT 1`,
  )
  return rows.length > 0
}

/** What a staged load comes to, and how many stored sessions it moves. */
export async function surveyLoad(
  writer: Connection,
  tables: LoadTables,
): Promise<{ readonly report: LoadReport; readonly moved: number }> {
  const [counts] = await selectRows<ReportRow & { readonly moved: number }>(
    writer,
    sql`
WITH
  (SELECT (count(), countIf(reason = 'bot')) FROM ${tables.excludedEvents}) AS untracked,
  (SELECT (count(), toUnixTimestamp64Milli(minOrNull(timestamp)), toUnixTimestamp64Milli(maxOrNull(timestamp))) FROM ${tables.kept}) AS kept
SELECT
  count() AS received, countIf(fate = 'rejected') AS rejected,
  kept.1 AS events, kept.2 AS first, kept.3 AS last,
  untracked.2 AS bots, untracked.1 - bots AS excluded,
  received - events - untracked.1 - rejected AS duplicates,
  (SELECT countIf(is_moved) FROM ${tables.previousStates}) AS moved
FROM ${tables.rows}`,
  )
  if (counts === undefined) return { report: EMPTY_REPORT, moved: 0 }
  return { report: parseReport(counts), moved: counts.moved }
}

export const selectRows = async <Row>(writer: Connection, query: Sql): Promise<readonly Row[]> =>
  (await writer.query<Row>(statement(query))).rows

/** The tables hold addresses, which are kept nowhere. */
async function dropTables(writer: Connection, tables: Partial<LoadTables>): Promise<void> {
  const all = join(Object.values(tables))
  await writer.execute(statement(sql`DROP TABLE IF EXISTS ${all} SYNC`))
}
