/** The log of loads: which step each has reached, and what came of it. */
import type { Connection } from '../../clickhouse/connection.js'
import { optionalTime, sql, statement, string, uint64, type Sql } from '../../clickhouse/sql.js'

/** A load goes through these once, in order; after a crash it goes on from the last it reached. */
export const STEP = { started: 1, staged: 2, loaded: 3 } as const
export type Step = (typeof STEP)[keyof typeof STEP]

export interface Load {
  /** Counted from 1; later loads have higher numbers. */
  readonly number: number
  readonly batch: string
  readonly step: Step
}

/** What became of the rows of a batch. */
export interface LoadReport {
  readonly received: number
  /** Rows that became events. */
  readonly events: number
  /** Rows whose event id was seen before. */
  readonly duplicates: number
  /** Rows whose user agent is a bot's. */
  readonly bots: number
  /** Rows of addresses or countries that the project excludes. */
  readonly excluded: number
  readonly rejected: number
  /** The moment of the earliest event, and of the latest; null where there is none. */
  readonly first: Date | null
  readonly last: Date | null
}

/** The report of no rows. */
export const EMPTY_REPORT: LoadReport = {
  received: 0,
  events: 0,
  duplicates: 0,
  bots: 0,
  excluded: 0,
  rejected: 0,
  first: null,
  last: null,
}

export const addReports = (a: LoadReport, b: LoadReport): LoadReport => ({
  received: a.received + b.received,
  events: a.events + b.events,
  duplicates: a.duplicates + b.duplicates,
  bots: a.bots + b.bots,
  excluded: a.excluded + b.excluded,
  rejected: a.rejected + b.rejected,
  first: [a.first, b.first].reduce((x, y) => (x === null || (y !== null && y < x) ? y : x)),
  last: [a.last, b.last].reduce((x, y) => (x === null || (y !== null && y > x) ? y : x)),
})

/** A report as a statement selects it: moments in milliseconds since 1970. */
export type ReportRow = Omit<LoadReport, 'first' | 'last'> & {
  readonly first: number | null
  readonly last: number | null
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms))

export const toReport = (row: ReportRow): LoadReport => ({
  received: row.received,
  events: row.events,
  duplicates: row.duplicates,
  bots: row.bots,
  excluded: row.excluded,
  rejected: row.rejected,
  first: dateOf(row.first),
  last: dateOf(row.last),
})

export interface FinishedLoad {
  readonly load: Load
  readonly report: LoadReport
  /** The numbers of the rows that were not loaded; of a stream they are not kept. */
  readonly rowsLeft: readonly number[]
}

/** The load of a batch and what it came to, if it is loaded. */
export const findLoad = async (
  writer: Connection,
  batch: string,
): Promise<FinishedLoad | undefined> =>
  (await findLoads(writer, sql`batch = ${string(batch)}`)).find(({ load }) => load.batch === batch)

/** The loads of the batches whose names begin so, of those that are loaded. */
export const findLoadsOf = (writer: Connection, prefix: string): Promise<readonly FinishedLoad[]> =>
  findLoads(writer, sql`startsWith(batch, ${string(prefix)})`)

async function findLoads(writer: Connection, which: Sql): Promise<readonly FinishedLoad[]> {
  const { rows } = await writer.query<Load & ReportRow & { rowsLeft: number[] }>(
    statement(sql`
SELECT
  load AS number, batch, step, received, events, duplicates, bots, excluded, rejected,
  toUnixTimestamp64Milli(first_at) AS first, toUnixTimestamp64Milli(last_at) AS last, rows_left AS rowsLeft
FROM loads FINAL
WHERE ${which} AND step = ${uint64(STEP.loaded)}
ORDER BY load`),
  )
  return rows.map(({ number, batch, step, rowsLeft, ...row }) => ({
    load: { number, batch, step },
    report: toReport(row),
    rowsLeft,
  }))
}

/** Unfinished loads are looked for among so many: none is begun before the last is ended. */
const NEWEST = sql`100`

/** The loads that were begun and not ended, in order. */
export async function findUnfinishedLoads(writer: Connection): Promise<readonly Load[]> {
  const { rows } = await writer.query<Load>(
    statement(sql`
SELECT load AS number, batch, step FROM loads FINAL
WHERE load + ${NEWEST} > (SELECT load FROM loads ORDER BY load DESC LIMIT 1) AND step < ${uint64(STEP.loaded)}
ORDER BY load`),
  )
  return rows
}

/** Begins the load of a batch, under the next number. */
export async function startLoad(writer: Connection, batch: string): Promise<Load> {
  const load: Load = { number: await nextNumber(writer), batch, step: STEP.started }
  await recordStep(writer, load, STEP.started)
  return load
}

/** A number that no load and no removal has had; loads of the stream leave theirs at the cursor only. */
export async function nextNumber(writer: Connection): Promise<number> {
  const { rows } = await writer.query<{ last: number }>(
    statement(sql`
SELECT greatest(
  (SELECT max(load) FROM loads), (SELECT max(removal) FROM removals), (SELECT max(load) FROM inbox_cursor)
) AS last`),
  )
  return (rows[0]?.last ?? 0) + 1
}

/** Writes down that a load has reached a step; what was written of it first stays. */
export const recordStep = (writer: Connection, load: Load, step: Step): Promise<void> =>
  record(writer, load, step, EMPTY_REPORT, sql`emptyArrayUInt64()`)

/** Writes down that a batch is loaded, and what it came to; `rowsLeft` selects an array of row numbers. */
export const recordEnd = (
  writer: Connection,
  load: Load,
  report: LoadReport,
  rowsLeft: Sql,
): Promise<void> => record(writer, load, STEP.loaded, report, rowsLeft)

async function record(
  writer: Connection,
  { number, batch }: Load,
  step: Step,
  report: LoadReport,
  rowsLeft: Sql,
): Promise<void> {
  await writer.execute(
    statement(sql`
INSERT INTO loads (load, batch, step, received, events, duplicates, bots, excluded, rejected, first_at, last_at, rows_left)
SELECT ${uint64(number)}, ${string(batch)}, ${uint64(step)}, ${uint64(report.received)}, ${uint64(report.events)},
  ${uint64(report.duplicates)}, ${uint64(report.bots)}, ${uint64(report.excluded)}, ${uint64(report.rejected)},
  ${optionalTime(report.first)}, ${optionalTime(report.last)}, ${rowsLeft}`),
    { insert_deduplication_token: `load-${number}-step-${step}` },
  )
}
