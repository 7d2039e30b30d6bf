/** Writes the groups of a project that lives across several shards: each shard counts its own users, and all measures add up. */
import { identifier, join, sql, type Sql } from '../../clickhouse/sql.js'
import { getColumn, mergeMeasure } from '../../model/measures.js'
import { listGroupMeasures, writeGroups, type MeasuredPlan } from './groups.js'
import type { StatementContext } from './rows.js'
import { listKeys, writeSeriesKey } from './select.js'

/** The shards that a project lives across, as their ClickHouses know them. */
export interface ShardGroup {
  /** The name of the group in `remote_servers`: letters, digits and `_`. */
  readonly name: string
  /** The database of the tables, which is the same on all shards. */
  readonly database: string
  /** The number of its shards. */
  readonly width: number
  /** Whether users are moving between its shards: then statements read no rollups, and skip the rows of users who have left. */
  readonly isWidening: boolean
}

/** Writes the groups of some scans, one row per group, as the project lives. */
export const writeGroupsOfProject = (
  context: StatementContext,
  plan: MeasuredPlan,
  group: ShardGroup | undefined,
  keys?: Sql,
): Sql =>
  group === undefined
    ? writeGroups(context, plan, keys)
    : writeGroupsOfShards(context, plan, group, keys)

/**
 * Writes the groups of some scans, each summed over the shards of a group. A view within `cluster` is computed on each shard to
 * its end, so bitmaps of users never meet those of another shard, where other users have the same numbers.
 *
 * @param keys a subquery or an array of the groups to read, by the groupings after the first, or the only one; absent: all groups. A view sees nothing of the
 *   statement around it, so this is a condition on its rows. The engine applies it within the view, to the rows that each shard reads.
 */
function writeGroupsOfShards(
  context: StatementContext,
  plan: MeasuredPlan,
  group: ShardGroup,
  keys?: Sql,
): Sql {
  const sums = listGroupMeasures(plan).map(
    (measure) =>
      sql`${mergeMeasure(measure, sql`shards.${getColumn(measure)}`)} AS ${getColumn(measure)}`,
  )
  const view = writeGroups(toShardContext(context, group), plan)
  const keysOfRows = listKeys(context.query)
  const where =
    keys === undefined ? sql`` : sql` WHERE ${writeSeriesKey(context.query)} IN (${keys})`
  return sql`SELECT ${join([...keysOfRows, ...sums])} FROM ${writeRowsOfShards(group, view)}${where} GROUP BY ${join(keysOfRows)} HAVING max(is_row)`
}

/** Returns the context of what each shard of a group computes. */
export const toShardContext = (
  context: StatementContext,
  { database, isWidening }: ShardGroup,
): StatementContext => ({
  ...context,
  isShard: true,
  leavesOut: isWidening,
  database: sql`${identifier(database)}.`,
})

/** Writes the rows that a SELECT has on each shard of a group, as the table `shards`. */
export const writeRowsOfShards = ({ name }: ShardGroup, view: Sql): Sql =>
  sql`cluster(${identifier(name)}, view(${view})) AS shards`
