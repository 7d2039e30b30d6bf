/** Writes the one statement that answers a plan. */
import {
  int64s,
  join,
  sql,
  statement,
  string,
  uint32,
  type Sql,
  type Statement,
} from '../../clickhouse/sql.js'
import { selectOrigin } from '../../model/origin.js'
import { listScans, mergeSteps, type Plan } from '../plan/plan.js'
import { writeGroupsWithDeferredUsers } from './deferred-users.js'
import { listMeasures, writeGroups } from './groups.js'
import type { StatementContext } from './rows.js'
import { orderRows, selectMetrics } from './select.js'
import { writeGroupsOfShards, type ShardGroup } from './shards.js'
import { joinTotals, selectTotals } from './totals.js'
import { createWhereWriter } from './where.js'

/**
 * Writes the statement of a plan. Its columns are `group_key` (the value of the group, or the number of the bucket; in a zone,
 * the start of the bucket in seconds since 1970), one `metric_…` for each selected metric, one `total_…` for each if the query
 * asks for totals, then those of `MarkedRow`. The number of rows before LIMIT is the total of the response.
 *
 * @param nonce marks the rows as those of one request
 * @param group the shards that the project lives across; undefined if it lives on the one that runs the statement
 */
export function buildStatement(plan: Plan, nonce: string, group?: ShardGroup): Statement {
  const { query } = plan
  const context = createContext(plan)
  const columns = [
    sql`group_key`,
    ...selectMetrics(query, query.metrics, listMeasures(listScans(plan))),
    ...selectTotals(plan),
    selectOrigin(context.project, nonce),
  ]
  // A single row needs no order, and ClickHouse some time to find that out.
  const order = query.grouping.kind === 'none' ? sql`` : sql` ORDER BY ${orderRows(query)}`
  const groups = sql`(${writeAllGroups(context, plan, group)})`
  return statement(
    sql`SELECT ${join(columns)} FROM ${joinTotals(context, plan, groups, group)}${order} LIMIT ${uint32(query.limit)} OFFSET ${uint32(query.offset)}`,
  )
}

/** Creates what all parts of a statement share. */
export const createContext = ({ query, readsDays }: Plan): StatementContext => ({
  query,
  ...(query.grouping.kind === 'interval' && query.grouping.zoned !== undefined
    ? { bucketStarts: int64s(query.grouping.zoned.starts) }
    : {}),
  project: string(query.projectId),
  where: createWhereWriter(query.predicate),
  readsDays,
  database: sql``,
  isShard: false,
  leavesOut: false,
})

function writeAllGroups(context: StatementContext, plan: Plan, group: ShardGroup | undefined): Sql {
  const { userCounting } = plan
  if (group !== undefined) {
    return writeGroupsOfShards(context, { ...plan, scans: mergeSteps(plan) }, group)
  }
  return userCounting.kind === 'all'
    ? writeGroups(context, plan)
    : writeGroupsWithDeferredUsers(context, plan, userCounting)
}
