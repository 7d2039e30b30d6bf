/** Lists the months of a store, and selects the rows of one month: rollups are rebuilt and compared month by month. */
import type { Connection } from '../clickhouse/connection.js'
import { join, sql, statement, string, uint32, TRUE, type Sql } from '../clickhouse/sql.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { ROLLUPS, type Rollup } from '../model/rollups.js'

/** A month as ClickHouse numbers partitions, e.g. 202601. */
export type Month = number

export const getYear = (month: Month): number => Math.floor(month / 100)

/** Builds the condition that a row belongs to the project; without a project every row does. */
export const isOfProject = (projectId: string | undefined): Sql =>
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
  const partition = uint32(grain === 'day' ? month : getYear(month))
  const number = grain === 'day' ? sql`toYYYYMM(${dateColumn})` : sql`toYear(${dateColumn})`
  return { partition, isInPartition: sql`${number} = ${partition}` }
}

/** A month that has facts or rows of rollups. */
export interface MonthOfFacts {
  readonly month: Month
  /** The number of its events and of the states of its sessions. */
  readonly rows: number
}

/** Lists the months that have facts or rows of rollups, the earliest first. */
export async function listMonths(
  writer: Connection,
  projectId: string | undefined,
): Promise<readonly MonthOfFacts[]> {
  const months = projectId === undefined ? ALL_MONTHS : listMonthsOf(projectId)
  const { rows } = await writer.query<MonthOfFacts>(
    statement(sql`
SELECT month, sum(month_rows) AS rows FROM (${join(months, sql` UNION ALL `)}) GROUP BY month ORDER BY month`),
  )
  return rows
}

/** Selects the months of all projects. Where partitions are months, no column is read for it. */
const ALL_MONTHS: readonly Sql[] = [
  sql`SELECT toUInt32(_partition_id) AS month, count() AS month_rows FROM events GROUP BY month`,
  sql`SELECT toUInt32(_partition_id) AS month, count() FROM sessions GROUP BY month`,
  ...ROLLUPS.map(({ name, grain, dateColumn }) =>
    grain === 'day'
      ? sql`SELECT DISTINCT toUInt32(_partition_id), 0 FROM ${LIVE.rollups[name]}`
      : sql`SELECT DISTINCT toYYYYMM(${dateColumn}), 0 FROM ${LIVE.rollups[name]}`,
  ),
]

const listMonthsOf = (projectId: string): readonly Sql[] => [
  sql`
    SELECT toYYYYMM(timestamp) AS month, count() AS month_rows
    FROM events
    WHERE ${isOfProject(projectId)}
    GROUP BY month`,
  sql`SELECT toYYYYMM(start_at) AS month, count() FROM sessions WHERE ${isOfProject(projectId)} GROUP BY month`,
  ...ROLLUPS.map(
    ({ name, dateColumn }) =>
      sql`SELECT DISTINCT toYYYYMM(${dateColumn}), 0 FROM ${LIVE.rollups[name]} WHERE ${isOfProject(projectId)}`,
  ),
]

/** What is left of a rebuild or a check. */
export interface WorkLeft {
  readonly months: number
  /** About how long they take, in milliseconds: as long per row as the months before. */
  readonly ms: number
}

/**
 * Estimates what is left of these months.
 *
 * @param done the number of months that took `ms`
 */
export function estimateLeft(months: readonly MonthOfFacts[], done: number, ms: number): WorkLeft {
  // A month takes a moment even if it has no facts.
  const cost = (some: readonly MonthOfFacts[]): number =>
    some.reduce((sum, { rows }) => sum + rows + 10_000, 0)
  const left = months.slice(done)
  return { months: left.length, ms: (ms * cost(left)) / cost(months.slice(0, done)) }
}
