/** Lists the months of a store, and selects the rows of one month: rollups are rebuilt and compared month by month. */
import type { Connection } from '../clickhouse/connection.js'
import { join, sql, statement, string, uint32, TRUE, type Sql } from '../clickhouse/sql.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { ROLLUPS, type Rollup } from '../model/rollups.js'

/** A month as ClickHouse numbers partitions, e.g. 202601. */
export type Month = number

/** Builds the condition that a row belongs to the project; without a project every row does. */
const isOfProject = (projectId: string | undefined): Sql =>
  projectId === undefined ? TRUE : sql`project_id = ${string(projectId)}`

/** Builds the condition that a moment or date lies in the month, and that its row belongs to the project. */
export const isOfMonth = (date: Sql, month: Month, projectId: string | undefined): Sql =>
  sql`toYYYYMM(${date}) = ${uint32(month)} AND ${isOfProject(projectId)}`

/** Finds the partition of a rollup that contains a month, and builds the condition that a row is in that partition. */
export function findPartition(
  { grain, dateColumn }: Rollup,
  month: Month,
): { readonly partition: Sql; readonly isInPartition: Sql } {
  // Daily rollups are partitioned by month, monthly ones by year.
  const partition = uint32(grain === 'day' ? month : Math.floor(month / 100))
  const number = grain === 'day' ? sql`toYYYYMM(${dateColumn})` : sql`toYear(${dateColumn})`
  return { partition, isInPartition: sql`${number} = ${partition}` }
}

/** Lists the months that have facts or rows of rollups, the earliest first. */
export async function listMonths(
  writer: Connection,
  projectId: string | undefined,
): Promise<readonly Month[]> {
  const selects = [
    sql`SELECT toYYYYMM(timestamp) AS month FROM events WHERE ${isOfProject(projectId)}`,
    sql`SELECT toYYYYMM(start_at) FROM sessions WHERE ${isOfProject(projectId)}`,
    ...ROLLUPS.map(
      ({ name, dateColumn }) =>
        sql`SELECT toYYYYMM(${dateColumn}) FROM ${LIVE.rollups[name]} WHERE ${isOfProject(projectId)}`,
    ),
  ]
  const { rows } = await writer.query<{ month: Month }>(
    statement(sql`SELECT DISTINCT month FROM (${join(selects, sql` UNION ALL `)}) ORDER BY month`),
  )
  return rows.map(({ month }) => month)
}
