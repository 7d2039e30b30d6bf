/** Computes the rollups of a month once more from the facts, beside those that are there. */
import type { Connection } from '../clickhouse/connection.js'
import { dropTables } from '../clickhouse/drop-tables.js'
import { join, sql, statement, string, uint32, TRUE, type Sql } from '../clickhouse/sql.js'
import { backfillRollups } from './backfill.js'
import { SHADOW, LIVE, ROLLUP_NAMES, type RollupName } from '../model/rollup-tables.js'

/** A month as ClickHouse numbers partitions, e.g. 202601. */
export type Month = number

/** The column by which the rows of a rollup belong to a month. */
export const dateColumn = (name: RollupName): Sql =>
  name.endsWith('_daily') ? sql`day` : sql`month`

/** The rows of a project, or of all. */
export const ofProject = (projectId: string | undefined): Sql =>
  projectId === undefined ? TRUE : sql`project_id = ${string(projectId)}`

/** The rows of a rollup's month, of a project or of all. */
export const ofMonth = (name: RollupName, month: Month, projectId?: string): Sql =>
  sql`toYYYYMM(${dateColumn(name)}) = ${uint32(month)} AND ${ofProject(projectId)}`

/**
 * Does the work with the drafts of a month filled from the facts, and drops them however it ends. The
 * caller holds the lease of the loader, so that facts and rollups stand still.
 *
 * @param projectId the only project whose rows are computed
 */
export async function withShadowTables<Result>(
  writer: Connection,
  month: Month,
  projectId: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  await dropTables(writer, SHADOW.prefix)
  try {
    await backfillRollups(writer, SHADOW, {
      events: sql`toYYYYMM(timestamp) = ${uint32(month)} AND ${ofProject(projectId)}`,
      sessions: sql`toYYYYMM(start_at) = ${uint32(month)} AND ${ofProject(projectId)}`,
    })
    return await work()
  } finally {
    await dropTables(writer, SHADOW.prefix)
  }
}

/** The months that there are facts or rollups of, the earliest first. */
export async function listMonths(
  writer: Connection,
  projectId: string | undefined,
): Promise<readonly Month[]> {
  const ofTables = [
    sql`SELECT toYYYYMM(timestamp) AS month FROM events WHERE ${ofProject(projectId)}`,
    sql`SELECT toYYYYMM(start_at) FROM sessions WHERE ${ofProject(projectId)}`,
    ...ROLLUP_NAMES.map(
      (name) =>
        sql`SELECT toYYYYMM(${dateColumn(name)}) FROM ${LIVE.rollups[name]} WHERE ${ofProject(projectId)}`,
    ),
  ]
  const { rows } = await writer.query<{ month: Month }>(
    statement(sql`SELECT DISTINCT month FROM (${join(ofTables, sql` UNION ALL `)}) ORDER BY month`),
  )
  return rows.map(({ month }) => month)
}
