/** Stores the first kept day of each project that keeps data for a time: the table `cutoffs` of its store. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, strings, time, uint32 } from '../clickhouse/sql.js'
import { formatDay } from '../lib/time.js'
import type { RecordedCutoff } from './cutoff.js'

interface CutoffRow {
  readonly projectId: string
  /** Such as `2026-01-31`. */
  readonly keptFrom: string
  readonly keepDays: number
  readonly recordedMs: number
}

/** Reads the recorded cutoffs, by the ids of their projects. */
export async function readCutoffs(
  writer: Connection,
): Promise<ReadonlyMap<string, RecordedCutoff>> {
  const { rows } = await writer.query<CutoffRow>(
    statement(sql`
SELECT
  project_id AS projectId, toString(kept_from) AS keptFrom, keep_days AS keepDays,
  toUnixTimestamp64Milli(recorded_at) AS recordedMs
FROM cutoffs FINAL`),
  )
  return new Map(
    rows.map(({ projectId, keptFrom, keepDays, recordedMs }) => [
      projectId,
      { keptFrom: new Date(keptFrom), keepDays, recordedAt: new Date(recordedMs) },
    ]),
  )
}

export const writeCutoff = (
  writer: Connection,
  projectId: string,
  { keptFrom, keepDays, recordedAt }: RecordedCutoff,
): Promise<void> =>
  writer.execute(
    statement(sql`
INSERT INTO cutoffs (project_id, kept_from, keep_days, recorded_at)
SELECT ${string(projectId)}, toDate32(${string(formatDay(keptFrom))}), ${uint32(keepDays)}, ${time(recordedAt)}`),
  )

/** Forgets the cutoffs of projects. The next expiration of each is its first. */
export async function forgetCutoffs(writer: Connection, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await writer.execute(statement(sql`DELETE FROM cutoffs WHERE has(${strings(ids)}, project_id)`))
}
