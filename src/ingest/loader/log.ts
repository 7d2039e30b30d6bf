/** The log of loads: which step each has reached, and what came of it. */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement, string, uint64 } from '../../clickhouse/sql.js'

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
  /** Rows of addresses or countries that the project excludes. */
  readonly excluded: number
  readonly rejected: number
}

/** The report of no rows. */
export const NOTHING: LoadReport = {
  received: 0,
  events: 0,
  duplicates: 0,
  excluded: 0,
  rejected: 0,
}

export const addReports = (a: LoadReport, b: LoadReport): LoadReport => ({
  received: a.received + b.received,
  events: a.events + b.events,
  duplicates: a.duplicates + b.duplicates,
  excluded: a.excluded + b.excluded,
  rejected: a.rejected + b.rejected,
})

/** The load of a batch and what it came to, if it is loaded. */
export async function findLoad(
  writer: Connection,
  batch: string,
): Promise<{ readonly load: Load; readonly report: LoadReport } | undefined> {
  const { rows } = await writer.query<Load & LoadReport>(
    statement(sql`
SELECT load AS number, batch, step, received, events, duplicates, excluded, rejected FROM loads FINAL
WHERE batch = ${string(batch)} AND step = ${uint64(STEP.loaded)}`),
  )
  const [row] = rows
  if (row === undefined) return undefined
  const { number, step, received, events, duplicates, excluded, rejected } = row
  return {
    load: { number, batch, step },
    report: { received, events, duplicates, excluded, rejected },
  }
}

/** The loads that were begun and not ended, in order. */
export async function findUnfinishedLoads(writer: Connection): Promise<readonly Load[]> {
  const { rows } = await writer.query<Load>(
    statement(sql`
SELECT load AS number, batch, step FROM loads FINAL WHERE step < ${uint64(STEP.loaded)} ORDER BY load`),
  )
  return rows
}

/** Begins the load of a batch, under the next number. */
export async function startLoad(writer: Connection, batch: string): Promise<Load> {
  const load: Load = { number: await nextNumber(writer), batch, step: STEP.started }
  await recordStep(writer, load, STEP.started)
  return load
}

/** A number that no load and no removal has had. */
export async function nextNumber(writer: Connection): Promise<number> {
  const { rows } = await writer.query<{ last: number }>(
    statement(sql`
SELECT greatest((SELECT max(load) FROM loads), (SELECT max(removal) FROM removals)) AS last`),
  )
  return (rows[0]?.last ?? 0) + 1
}

/** Writes down that a load has reached a step; what was written of it first stays. */
export async function recordStep(
  writer: Connection,
  { number, batch }: Load,
  step: Step,
  report = NOTHING,
): Promise<void> {
  const { received, events, duplicates, excluded, rejected } = report
  await writer.execute(
    statement(sql`
INSERT INTO loads (load, batch, step, received, events, duplicates, excluded, rejected)
SELECT ${uint64(number)}, ${string(batch)}, ${uint64(step)}, ${uint64(received)}, ${uint64(events)},
  ${uint64(duplicates)}, ${uint64(excluded)}, ${uint64(rejected)}`),
    { insert_deduplication_token: `load-${number}-step-${step}` },
  )
}
