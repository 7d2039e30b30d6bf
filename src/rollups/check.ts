/** Compares the rollups with the facts. */
import type { Connection } from '../clickhouse/connection.js'
import { join, sql, statement, uint32, type Sql } from '../clickhouse/sql.js'
import { dateColumn, ofMonth, type Month } from './shadow-tables.js'
import { isOfUsers, measuresOf, sumsOf } from '../model/rollup-measures.js'
import { forEachMonth, type MonthsOptions } from './rebuild.js'
import { SHADOW, LIVE, ROLLUP_NAMES, type RollupName } from '../model/rollup-tables.js'

/** A group of which a rollup says something else than the facts. */
export interface Difference {
  readonly rollup: RollupName
  readonly projectId: string
  readonly dimension: string
  readonly value: string
  /** The day, or the first of the month. */
  readonly date: string
  /** What the rollup says, and what the facts come to, measure by measure; duration in milliseconds. */
  readonly stored: Readonly<Record<string, number>>
  readonly facts: Readonly<Record<string, number>>
}

export interface CheckReport {
  readonly months: number
  /** Groups of the rollups that were compared. */
  readonly groups: number
  /** How many of them differ. */
  readonly different: number
  /** The first of those that differ, of each rollup and month at most `SAMPLES`. */
  readonly differences: readonly Difference[]
}

const SAMPLES = 10

/** Compares every group of every rollup, a month at a time. */
export async function checkRollups(
  writer: Connection,
  options: MonthsOptions,
): Promise<CheckReport> {
  const found: CheckReport[] = []
  await forEachMonth(writer, options, async (holder, month) => {
    for (const name of ROLLUP_NAMES) {
      found.push(await compare(holder, name, month, options.projectId))
    }
  })
  const sum = (of: (report: CheckReport) => number): number =>
    found.reduce((total, report) => total + of(report), 0)
  return {
    months: found.length / ROLLUP_NAMES.length,
    groups: sum(({ groups }) => groups),
    different: sum(({ different }) => different),
    differences: found.flatMap(({ differences }) => differences),
  }
}

interface Row {
  readonly project_id: string
  readonly dimension: string
  readonly value: string
  readonly date: string
  readonly stored: readonly number[]
  readonly facts: readonly number[]
}

async function compare(
  writer: Connection,
  rollup: RollupName,
  month: Month,
  projectId: string | undefined,
): Promise<CheckReport> {
  const compared = bothSides(rollup, month, projectId)
  const counted = await writer.query<{ groups: number; different: number }>(
    statement(
      sql`SELECT count() AS groups, countIf(stored_print != facts_print) AS different FROM (${compared})`,
    ),
  )
  const { groups, different } = counted.rows[0] ?? { groups: 0, different: 0 }
  const rows = different === 0 ? [] : await samplesOf(writer, compared)
  return {
    months: 1,
    groups,
    different,
    differences: rows.map(({ project_id, stored, facts, ...row }) => ({
      rollup,
      projectId: project_id,
      ...row,
      stored: named(rollup, stored),
      facts: named(rollup, facts),
    })),
  }
}

/** The first groups that differ; most often there are none to be looked for. */
async function samplesOf(writer: Connection, compared: Sql): Promise<readonly Row[]> {
  const { rows } = await writer.query<Row>(
    statement(
      sql`SELECT project_id, dimension, value, toString(date) AS date, stored, facts FROM (${compared} HAVING stored_print != facts_print) ORDER BY project_id, dimension, value, date LIMIT ${uint32(SAMPLES)}`,
    ),
  )
  return rows
}

const named = (rollup: RollupName, values: readonly number[]): Record<string, number> =>
  Object.fromEntries(measuresOf(rollup).map((name, i) => [name, values[i] ?? 0]))

/** Each group with what it has on both sides, and a print of it: of users, of who they are. */
function bothSides(rollup: RollupName, month: Month, projectId: string | undefined): Sql {
  const sides = [
    side(rollup, LIVE.rollups[rollup], sql`true`, ofMonth(rollup, month, projectId)),
    side(rollup, SHADOW.rollups[rollup], sql`false`, ofMonth(rollup, month, projectId)),
  ]
  return sql`
SELECT project_id, dimension, value, date,
  sumForEachIf(measured, is_stored) AS stored, sumForEachIf(measured, NOT is_stored) AS facts,
  sumIf(print, is_stored) AS stored_print, sumIf(print, NOT is_stored) AS facts_print
FROM (${join(sides, sql` UNION ALL `)})
GROUP BY project_id, dimension, value, date`
}

/** The groups of one table; those of zeros are as good as none. */
function side(rollup: RollupName, table: Sql, isStored: Sql, isAsked: Sql): Sql {
  const measured = isOfUsers(rollup)
    ? sql`[toInt64(groupBitmapMerge(users))]`
    : sql`[${join(Object.values(sumsOf(rollup)).map((column) => sql`sum(${column})`))}]`
  const print = isOfUsers(rollup)
    ? sql`cityHash64(arraySort(bitmapToArray(groupBitmapMergeState(users))))`
    : sql`cityHash64(measured)`
  return sql`
SELECT project_id, dimension, value, ${dateColumn(rollup)} AS date, ${measured} AS measured, ${print} AS print, ${isStored} AS is_stored
FROM ${table} WHERE ${isAsked}
GROUP BY project_id, dimension, value, date
HAVING arrayExists(one -> one != 0, measured)
SETTINGS optimize_aggregation_in_order = 1`
}
