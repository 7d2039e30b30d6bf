/** The log of loads, the table `loads`: which step each load has reached, and its report. */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement, string, uint64, type Sql } from '../../clickhouse/sql.js'
import { passStretches, STREAM_PREFIX, type LoadSource } from './load-source.js'
import {
  buildReportValues,
  EMPTY_REPORT,
  parseReport,
  REPORT_COLUMNS,
  SELECT_REPORT,
  type LoadReport,
  type ReportRow,
} from './load-report.js'

/**
 * A load takes the first three steps in order; after a crash a staged load is published. A load that ends before it is
 * staged is abandoned: it has published nothing, and its rows are loaded under another number.
 */
export const STEP = { started: 1, staged: 2, loaded: 3, abandoned: 4 } as const
export type Step = (typeof STEP)[keyof typeof STEP]

export interface Load extends LoadSource {
  /** Counted from 1; later loads have higher numbers. */
  readonly number: number
  /** The last step that was finished. */
  readonly step: Step
  /** In how many parts its events, sessions and changes are published; known once it is staged. */
  readonly slices: number
}

export interface FinishedLoad {
  readonly load: Load
  readonly report: LoadReport
  /** The numbers of the rows that were not loaded: a repeated import tries them again. Empty for loads of the stream. */
  readonly rowsLeft: readonly number[]
}

/** Finds the finished load of a batch. */
export const findLoad = async (
  writer: Connection,
  batch: string,
): Promise<FinishedLoad | undefined> =>
  (await findFinishedLoads(writer, sql`batch = ${string(batch)}`)).find(
    ({ load }) => load.batch === batch,
  )

/** Finds the finished loads of the batches whose names start with `prefix`, in order. */
export const findLoadsByPrefix = (
  writer: Connection,
  prefix: string,
): Promise<readonly FinishedLoad[]> =>
  findFinishedLoads(writer, sql`startsWith(batch, ${string(prefix)})`)

/** Selects the stretches of loads. */
const selectTexts = (loads: Sql): Sql => sql`
  arrayMap(position -> toString(position), ${loads}.starts) AS starts,
  arrayMap(position -> toString(position), ${loads}.ends) AS ends`

/** Selects a Load. */
const SELECT_LOAD = sql`load AS number, batch, step, slices, ${selectTexts(sql`loads`)}`

async function findFinishedLoads(
  writer: Connection,
  condition: Sql,
): Promise<readonly FinishedLoad[]> {
  const { rows } = await writer.query<Load & ReportRow & { rowsLeft: number[] }>(
    statement(sql`
SELECT ${SELECT_LOAD}, ${SELECT_REPORT}, rows_left AS rowsLeft
FROM loads FINAL
WHERE ${condition} AND step = ${uint64(STEP.loaded)}
ORDER BY load`),
  )
  return rows.map(({ number, batch, step, slices, starts, ends, rowsLeft, ...report }) => ({
    load: { number, batch, step, slices, starts, ends },
    report: parseReport(report),
    rowsLeft,
  }))
}

/**
 * Only this many of the newest loads are searched for unfinished ones: a load starts only when all earlier ones are
 * finished.
 */
const MAX_UNFINISHED = sql`100`

/**
 * Finds the loads that were started and not finished, in order. Loads of the stream expire once they are finished, and a
 * merge may delete the row of the last step before those of earlier steps. So a load whose number is not above that of
 * `inbox_cursor` is finished.
 */
export async function findUnfinishedLoads(writer: Connection): Promise<readonly Load[]> {
  const { rows } = await writer.query<Load>(
    statement(sql`
SELECT ${SELECT_LOAD} FROM loads FINAL
WHERE load + ${MAX_UNFINISHED} > (SELECT load FROM loads ORDER BY load DESC LIMIT 1) AND step < ${uint64(STEP.loaded)}
  AND NOT (startsWith(batch, ${string(STREAM_PREFIX)}) AND load <= (SELECT max(load) FROM inbox_cursor))
ORDER BY load`),
  )
  return rows
}

/** Starts the load of a batch, or of rows of the stream, under the next number. */
export async function startLoad(
  writer: Connection,
  { batch, starts, ends }: LoadSource,
): Promise<Load> {
  const number = await readNextNumber(writer)
  const load: Load = { number, batch, step: STEP.started, slices: 1, starts, ends }
  await insertRecord(writer, load, EMPTY_REPORT)
  return load
}

/**
 * Reads the lowest number above those of all loads and deletions, which share one sequence. Loads of the
 * stream expire from `loads`; `inbox_cursor` keeps the number of the last one.
 */
export async function readNextNumber(writer: Connection): Promise<number> {
  const { rows } = await writer.query<{ last: number }>(
    statement(sql`
SELECT greatest(
  (SELECT max(load) FROM loads), (SELECT max(removal) FROM removals), (SELECT max(load) FROM inbox_cursor)
) AS last`),
  )
  return (rows[0]?.last ?? 0) + 1
}

/** Records that a load is staged, and in how many slices it is published. Returns the staged load. */
export async function recordStaged(writer: Connection, load: Load, slices: number): Promise<Load> {
  const staged: Load = { ...load, step: STEP.staged, slices }
  await insertRecord(writer, staged, EMPTY_REPORT)
  return staged
}

/** What is recorded of a loaded batch besides its report; each selects an array. */
export interface LoadedRows {
  /** The numbers of the rows that a repeated import of the source tries again. */
  readonly rowsLeft: Sql
  /** The projects of the events. */
  readonly projects: Sql
}

/** What is recorded of a load whose rows nobody asks about. */
export const NO_ROWS: LoadedRows = {
  rowsLeft: sql`emptyArrayUInt64()`,
  projects: sql`emptyArrayString()`,
}

/** Records that a batch is loaded. */
export const recordLoaded = (
  writer: Connection,
  load: Load,
  report: LoadReport,
  rows: LoadedRows,
): Promise<void> => insertRecord(writer, { ...load, step: STEP.loaded }, report, rows)

/**
 * Records that a load is abandoned.
 *
 * @param nextRows the most rows that the next load of its rows takes, or NOT_THE_ROWS
 */
export const recordAbandoned = (writer: Connection, load: Load, nextRows: number): Promise<void> =>
  insertRecord(writer, { ...load, step: STEP.abandoned }, { ...EMPTY_REPORT, received: nextRows })

/** An abandoned load. */
export interface AbandonedLoad extends LoadSource {
  /** The most rows that the next load of its rows takes. */
  readonly nextRows: number
  /** How many loads of the stream have finished since. */
  readonly finishedSince: number
}

/** Only this many of the newest loads are searched for abandoned ones. */
const MAX_ABANDONED = sql`1000`

/** In place of the rows of the next load: the rows were not the reason why the load was abandoned. */
export const NOT_THE_ROWS = 0

/** Finds the loads that were abandoned lately, perhaps because of their rows. */
export async function findAbandonedLoads(writer: Connection): Promise<readonly AbandonedLoad[]> {
  const { rows } = await writer.query<AbandonedLoad>(
    statement(sql`
WITH latest AS (
  SELECT load, batch, step, received, starts, ends FROM loads FINAL
  WHERE load + ${MAX_ABANDONED} > (SELECT load FROM loads ORDER BY load DESC LIMIT 1)
)
SELECT
  batch, ${selectTexts(sql`latest`)}, received AS nextRows,
  arrayCount(
    finished -> finished > load,
    (SELECT groupArray(load) FROM latest WHERE step = ${uint64(STEP.loaded)} AND startsWith(batch, ${string(STREAM_PREFIX)}))
  ) AS finishedSince
FROM latest WHERE step = ${uint64(STEP.abandoned)} AND received != ${uint64(NOT_THE_ROWS)}`),
  )
  return rows
}

/** Reads the step that a load has reached. */
export async function readStep(writer: Connection, load: Load): Promise<Step | undefined> {
  const { rows } = await writer.query<{ step: Step }>(
    statement(sql`SELECT max(step) AS step FROM loads WHERE load = ${uint64(load.number)}`),
  )
  return rows[0]?.step
}

/** Records the step of a load. Recording a step again changes nothing. */
async function insertRecord(
  writer: Connection,
  { number, batch, step, slices, ...stretches }: Load,
  report: LoadReport,
  { rowsLeft, projects }: LoadedRows = NO_ROWS,
): Promise<void> {
  const { starts, ends } = passStretches(stretches)
  await writer.execute(
    statement(sql`
INSERT INTO loads (load, batch, step, slices, starts, ends, ${REPORT_COLUMNS}, rows_left, projects)
SELECT ${uint64(number)}, ${string(batch)}, ${uint64(step)}, ${uint64(slices)}, ${starts}, ${ends}, ${buildReportValues(report)}, ${rowsLeft}, ${projects}`),
    { insert_deduplication_token: `load-${number}-step-${step}` },
  )
}
