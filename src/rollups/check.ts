/** Compares the rollups with the facts. */
import type { Connection, QueryOptions } from '../clickhouse/connection.js'
import { createLike } from '../clickhouse/replicas/create-like.js'
import type { Lease } from '../clickhouse/lease/lease.js'
import { join, sql, statement, uint32, type Sql } from '../clickhouse/sql.js'
import { LIVE, type RollupTables, type ShadowTables } from '../model/rollup-table-sets.js'
import { listSumColumns, ROLLUPS, type Rollup, type RollupName } from '../model/rollups.js'
import { findPartition, isOfMonth, type Month } from './months.js'
import { forEachMonth, type MonthsOptions, type ShadowMonth } from './process-months.js'

/** A group whose measures differ between a rollup and the facts. */
export interface Difference {
  readonly rollup: RollupName
  readonly projectId: string
  readonly dimension: string
  readonly value: string
  /** The second value of a pair; absent for other groups. */
  readonly other?: string
  /** The day, or the first day of the month. */
  readonly date: string
  /** Each measure as the rollup stores it, and as computed from the facts; duration in milliseconds. */
  readonly stored: Readonly<Record<string, number>>
  readonly facts: Readonly<Record<string, number>>
}

export interface CheckReport {
  readonly months: number
  /** The number of groups that were compared. */
  readonly groups: number
  /** The number of groups that differ. */
  readonly different: number
  /** Samples of the groups that differ: at most `MAX_SAMPLES` per rollup and month. */
  readonly differences: readonly Difference[]
}

const MAX_SAMPLES = 10

/** Compares every group of every rollup, one month at a time, while loads go on. */
export async function checkRollups(
  writer: Connection,
  options: MonthsOptions,
): Promise<CheckReport> {
  const reports: CheckReport[] = []
  await forEachMonth(writer, options, {
    whileHeld: copyRollups,
    afterwards: async ({ holder, shadow, month, projectId }) => {
      const ofMonth: CheckReport[] = []
      for (const rollup of ROLLUPS) {
        const compared = selectBothSides(rollup, shadow, month, projectId)
        ofMonth.push(await compareRollup(holder, rollup, compared))
      }
      // Only now: a month whose tables were dropped is compared again.
      reports.push(...ofMonth)
    },
  })
  const sum = (count: (report: CheckReport) => number): number =>
    reports.reduce((total, report) => total + count(report), 0)
  return {
    months: reports.length / ROLLUPS.length,
    groups: sum(({ groups }) => groups),
    different: sum(({ different }) => different),
    differences: reports.flatMap(({ differences }) => differences),
  }
}

/** Copies the partitions of the live rollups, as hard links. */
async function copyRollups({ holder, shadow, month }: ShadowMonth, lease: Lease): Promise<void> {
  for (const rollup of ROLLUPS) {
    const [copy, live] = [shadow.stored[rollup.name], LIVE.rollups[rollup.name]]
    const { partition } = findPartition(rollup, month)
    await createLike(holder, copy, live)
    await holder.execute(
      statement(sql`ALTER TABLE ${copy} ATTACH PARTITION ${partition} FROM ${live}`),
    )
  }
  // While this process was suspended, another may have loaded events, and only some of the copies have them.
  await lease.assertHeld()
}

interface Row {
  readonly project_id: string
  readonly dimension: string
  readonly value: string
  readonly other?: string
  readonly date: string
  readonly stored: readonly number[]
  readonly facts: readonly number[]
}

/** Groups that take more bytes than this are put on disk. */
const ON_DISK: QueryOptions = { settings: { max_bytes_before_external_group_by: '300000000' } }

async function compareRollup(
  writer: Connection,
  rollup: Rollup,
  compared: Sql,
): Promise<CheckReport> {
  const counted = await writer.query<{ groups: number; different: number }>(
    statement(
      sql`SELECT count() AS groups, countIf(stored_print != facts_print) AS different FROM (${compared})`,
    ),
    ON_DISK,
  )
  const { groups, different } = counted.rows[0] ?? { groups: 0, different: 0 }
  const rows = different === 0 ? [] : await selectSamples(writer, rollup, compared)
  return {
    months: 1,
    groups,
    different,
    differences: rows.map(({ project_id, stored, facts, ...row }) => ({
      rollup: rollup.name,
      projectId: project_id,
      ...row,
      stored: nameMeasures(rollup, stored),
      facts: nameMeasures(rollup, facts),
    })),
  }
}

/** Selects the first groups that differ. This is a separate query, because in most months no group differs. */
async function selectSamples(
  writer: Connection,
  { group }: Rollup,
  compared: Sql,
): Promise<readonly Row[]> {
  const { rows } = await writer.query<Row>(
    statement(
      sql`
        SELECT project_id, ${join(group)}, toString(date) AS date, stored, facts
        FROM (${compared} HAVING stored_print != facts_print)
        ORDER BY project_id, ${join(group)}, date
        LIMIT ${uint32(MAX_SAMPLES)}`,
    ),
    ON_DISK,
  )
  return rows
}

const nameMeasures = ({ measures }: Rollup, values: readonly number[]): Record<string, number> =>
  Object.fromEntries(measures.map((measure, i) => [measure, values[i] ?? 0]))

/**
 * Selects one row per group: its measures on both sides, and a hash of each side. The hash of users covers the members
 * of the bitmap, not only their number.
 */
function selectBothSides(
  rollup: Rollup,
  { rollups, stored }: ShadowTables,
  month: Month,
  projectId: string | undefined,
): Sql {
  const select = (tables: RollupTables['rollups'], isStored: Sql): Sql =>
    selectSide(
      rollup,
      tables[rollup.name],
      isStored,
      isOfMonth(rollup.dateColumn, month, projectId),
    )
  const sides = [select(stored, sql`true`), select(rollups, sql`false`)]
  const key = join([sql`project_id`, ...rollup.group, sql`date`])
  return sql`
SELECT ${key},
  sumForEachIf(measured, is_stored) AS stored, sumForEachIf(measured, NOT is_stored) AS facts,
  sumIf(print, is_stored) AS stored_print, sumIf(print, NOT is_stored) AS facts_print
FROM (${join(sides, sql` UNION ALL `)})
GROUP BY ${key}`
}

/** Selects the groups of one table. Groups whose measures are all zero are left out: they count as absent. */
function selectSide(rollup: Rollup, table: Sql, isStored: Sql, isSelected: Sql): Sql {
  const countsUsers = rollup.sums.length === 0
  const group = join(rollup.group)
  const measured = countsUsers
    ? sql`[toInt64(groupBitmapMerge(users))]`
    : sql`[${join(listSumColumns(rollup).map((column) => sql`sum(${column})`))}]`
  const print = countsUsers
    ? sql`cityHash64(arraySort(bitmapToArray(groupBitmapMergeState(users))))`
    : sql`cityHash64(measured)`
  return sql`
SELECT project_id, ${group}, ${rollup.dateColumn} AS date, ${measured} AS measured, ${print} AS print, ${isStored} AS is_stored
FROM ${table} WHERE ${isSelected}
GROUP BY project_id, ${group}, date
HAVING arrayExists(one -> one != 0, measured)
SETTINGS optimize_aggregation_in_order = 1`
}
