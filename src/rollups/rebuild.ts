/** Recomputes the rollups from the facts, one month at a time, while queries are served and events are loaded. */
import { ALL_PROJECTS, announceChange, selectProject } from '../changes/announce-change.js'
import type { Connection, QueryOptions } from '../clickhouse/connection.js'
import { createLike } from '../clickhouse/replicas/create-like.js'
import type { Lease } from '../clickhouse/lease/lease.js'
import { and, sql, statement, TRUE, type Sql } from '../clickhouse/sql.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { isOfPairedProjects, ROLLUPS, type Rollup } from '../model/rollups.js'
import { findPartition, isOfMonth } from './months.js'
import { IS_PAIRED } from './pair-views.js'
import { forEachMonth, type MonthsOptions, type ShadowMonth } from './process-months.js'

/**
 * Rebuilds the rollups. One statement swaps in the new partition of a rollup, so a query reads each rollup either before
 * or after the rebuild of a month.
 *
 * @param lease the lease `rollups`, if the caller holds it
 */
export function rebuildRollups(
  writer: Connection,
  options: MonthsOptions,
  lease?: Lease,
): Promise<void> {
  const { projectId, changeNoticeMs } = options
  const projects = projectId === undefined ? ALL_PROJECTS : selectProject(projectId)
  const swapInMonth = async (shadowMonth: ShadowMonth, loaderLease: Lease): Promise<void> => {
    // A rebuild that repairs counts changes answers.
    const change = await announceChange(shadowMonth.holder, projects, changeNoticeMs)
    const prepared: PreparedRollup[] = []
    for (const rollup of ROLLUPS) prepared.push(await prepareRollup(rollup, shadowMonth))
    await change.settle()
    await change.publish()
    for (const one of prepared) await swapInRollup(one, shadowMonth, loaderLease)
    await change.end()
  }
  return forEachMonth(writer, options, { whileHeld: swapInMonth, afterwards: mergeYear }, lease)
}

interface PreparedRollup {
  readonly rollup: Rollup
  /** Whether nothing is left in its partition. */
  readonly isEmpty: boolean
}

/** Completes the new partition of a rollup. @throws Error if it has no groups although there are events */
async function prepareRollup(rollup: Rollup, shadowMonth: ShadowMonth): Promise<PreparedRollup> {
  const { holder, month, projectId } = shadowMonth
  const rebuilt = shadowMonth.shadow.rollups[rollup.name]
  await addOtherRows(rollup, shadowMonth)
  // A month without facts has no groups left: its users were deleted. Nothing else may empty a partition.
  const isEmpty = !(await hasRows(holder, rebuilt, TRUE))
  const isCounted = and([
    isOfMonth(sql`timestamp`, month, projectId),
    isOfPairedProjects(rollup) ? IS_PAIRED : TRUE,
    // Events without properties have no numbers.
    rollup.subject === 'numbers' ? sql`notEmpty(properties)` : TRUE,
  ])
  if (isEmpty && (await hasRows(holder, sql`events`, isCounted))) {
    throw new Error(
      `the rebuild of ${rollup.name} found no groups for ${month}, but there are events`,
    )
  }
  return { rollup, isEmpty }
}

async function swapInRollup(
  { rollup, isEmpty }: PreparedRollup,
  { holder, month, shadow }: ShadowMonth,
  lease: Lease,
): Promise<void> {
  const live = LIVE.rollups[rollup.name]
  const { partition } = findPartition(rollup, month)
  const rebuilt = shadow.rollups[rollup.name]
  // While this process was suspended, another may have loaded events, and the shadow table lacks their rows. If it is
  // suspended here, the other process drops the shadow table, and the next statement fails.
  await lease.assertHeld()
  await holder.execute(
    statement(sql`ALTER TABLE ${live} REPLACE PARTITION ${partition} FROM ${rebuilt}`),
    isEmpty ? { allow_replace_partition_from_empty_source: 1 } : {},
  )
}

/**
 * Adds to a shadow table what else is in its partition, because a partition is replaced as a whole: the other months of the
 * year, the other projects. It is copied as hard links, in which the rows that are replaced are masked.
 */
async function addOtherRows(
  rollup: Rollup,
  { holder, month, shadow, projectId }: ShadowMonth,
): Promise<void> {
  if (rollup.grain === 'day' && projectId === undefined) return
  const [rebuilt, live] = [shadow.rollups[rollup.name], LIVE.rollups[rollup.name]]
  const { partition } = findPartition(rollup, month)
  const others = shadow.otherRows
  await holder.execute(statement(sql`DROP TABLE IF EXISTS ${others} SYNC`))
  await createLike(holder, others, live)
  for (const step of [
    sql`ALTER TABLE ${others} ATTACH PARTITION ${partition} FROM ${live}`,
    sql`DELETE FROM ${others} IN PARTITION ${partition} WHERE ${isOfMonth(rollup.dateColumn, month, projectId)}`,
    sql`ALTER TABLE ${rebuilt} ATTACH PARTITION ${partition} FROM ${others}`,
  ]) {
    await holder.execute(statement(step))
  }
}

/** Merges the parts of the monthly rollups once all months of a year are replaced: the old parts have only masked rows. */
async function mergeYear({ holder, month, endsYear }: ShadowMonth): Promise<void> {
  if (!endsYear) return
  for (const rollup of ROLLUPS.filter(({ grain }) => grain === 'month')) {
    const { partition } = findPartition(rollup, month)
    await holder.execute(
      statement(sql`OPTIMIZE TABLE ${LIVE.rollups[rollup.name]} PARTITION ${partition} FINAL`),
    )
  }
}

async function hasRows(holder: Connection, table: Sql, isSelected: Sql): Promise<boolean> {
  const { rows } = await holder.query(
    statement(sql`SELECT 1 FROM ${table} WHERE ${isSelected} LIMIT 1`),
    FIRST_ROW,
  )
  return rows.length > 0
}

/** Otherwise all rows would be read, to count them. */
const FIRST_ROW: QueryOptions = { settings: { exact_rows_before_limit: 0 } }
