/** Writes the one statement of a retention table. */
import {
  int64,
  join,
  sql,
  statement,
  uint64,
  type Sql,
  type Statement,
} from '../../clickhouse/sql.js'
import { selectOrigin } from '../../model/origin.js'
import { NO_USERS, uniteRowsBefore, writeEarlier, writeUserScans } from '../sql/new-users.js'
import { createContext, type StatementContext } from '../sql/rows.js'
import { toShardContext, writeRowsOfShards, type ShardGroup } from '../sql/shards.js'
import type { RetentionPlan } from './plan-retention.js'

/** A row of the statement: a cohort, and how many of its users were active in its own interval and in those that follow. */
export interface CohortRow {
  readonly group_key: number
  /** Up to the last interval that is read. The first is the size of the cohort. */
  readonly counts: readonly number[]
}

/** Writes the statement. @param group the shards that the project lives across; undefined if there is only one */
export function buildRetentionStatement(
  plan: RetentionPlan,
  nonce: string,
  group?: ShardGroup,
): Statement {
  const context = createContext(plan.cohorts)
  const cohorts =
    group === undefined
      ? sql`(${writeCohorts(context, plan)})`
      : sql`(${sumOverShards(group, writeCohorts(toShardContext(context, group), plan))})`
  return statement(
    sql`SELECT group_key, counts, ${selectOrigin(context.project, nonce)} FROM ${cohorts} AS cohorts`,
  )
}

/** A user is on one shard, so counts add up. A cohort has as many of them on each. */
const sumOverShards = (group: ShardGroup, view: Sql): Sql =>
  sql`SELECT group_key, sumForEach(shards.counts) AS counts FROM ${writeRowsOfShards(group, view)} GROUP BY group_key`

/**
 * Writes the cohorts with their counts. Every interval is a row, so the rows that follow a cohort are the intervals that follow it.
 * The members of a cohort are the users of its interval without those of earlier intervals and those before the period.
 */
function writeCohorts(context: StatementContext, plan: RetentionPlan): Sql {
  const { grid, cohorts, lastCohort } = plan
  const earlier = writeEarlier(context, cohorts.newUsers?.earlier)
  const before = uniteRowsBefore(sql`intervals.everyone`)
  const following = sql`groupArray(bitmapOr(intervals.matching, intervals.later)) OVER (ORDER BY group_key ROWS BETWEEN CURRENT ROW AND ${uint64(grid.intervals)} FOLLOWING)`
  const rows = sql`SELECT group_key, bitmapAndnot(bitmapAndnot(matching, ${before}), ${earlier}) AS members, ${following} AS following FROM (${writeIntervals(context, plan)}) AS intervals`
  return sql`SELECT group_key, arrayMap(users -> toInt64(bitmapAndCardinality(members, users)), following) AS counts FROM (${rows}) AS cohorts WHERE group_key <= ${int64(lastCohort)}`
}

/**
 * Writes the intervals, each with three bitmaps: the users with matching events within the period of the cohorts, all users within it,
 * and the users with matching events after it.
 */
function writeIntervals(
  context: StatementContext,
  { grid, cohorts: { newUsers }, later, lastInterval }: RetentionPlan,
): Sql {
  if (newUsers === undefined) throw new TypeError('the cohorts are new users')
  const { users, everyone } = newUsers
  const intervals = sql`range(${int64(grid.firstCohort)}, ${int64(lastInterval + 1)})`
  const parts = [
    sql`SELECT arrayJoin(${intervals}) AS group_key, ${NO_USERS} AS matching, ${NO_USERS} AS everyone, ${NO_USERS} AS later`,
    ...writeUserScans(context, users, (bitmap) => [
      sql`${bitmap} AS matching`,
      sql`${everyone === undefined ? sql`matching` : NO_USERS} AS everyone`,
      sql`${NO_USERS} AS later`,
    ]),
    ...writeUserScans(context, everyone, (bitmap) => [
      sql`${NO_USERS} AS matching`,
      sql`${bitmap} AS everyone`,
      sql`${NO_USERS} AS later`,
    ]),
    ...writeUserScans(context, later, (bitmap) => [
      sql`${NO_USERS} AS matching`,
      sql`${NO_USERS} AS everyone`,
      sql`${bitmap} AS later`,
    ]),
  ]
  const merge = (column: Sql): Sql => sql`groupBitmapMergeState(parts.${column}) AS ${column}`
  const columns = [sql`matching`, sql`everyone`, sql`later`].map(merge)
  return sql`SELECT ${join([sql`group_key`, ...columns])} FROM (${join(parts, sql` UNION ALL `)}) AS parts GROUP BY group_key`
}
