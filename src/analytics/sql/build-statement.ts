/** Writes the one statement that answers a plan. */
import { join, sql, statement, uint32, type Sql, type Statement } from '../../clickhouse/sql.js'
import { isNumberMetric } from '../../model/metrics.js'
import { selectOrigin } from '../../model/origin.js'
import { listScans, type Plan } from '../plan/plan.js'
import { joinCompared, selectCompared, writeTable } from './comparison.js'
import { writeGroupsWithDeferredUsers } from './deferred-users.js'
import { listMeasures } from './groups.js'
import { selectNumberFacts, WHOLE_MAPS } from './numbers.js'
import { writeRankedSeries, writeRanking } from './ranked-series.js'
import { createContext, moveContext, type StatementContext } from './rows.js'
import { listKeys, orderRows, selectMetrics, writeHaving } from './select.js'
import { writeGroupsOfProject, type ShardGroup } from './shards.js'
import { joinTotals, selectTotals } from './totals.js'

/**
 * Writes the statement of a plan. Its columns are `group_key` (the value of the group, or the number of the bucket; in a zone,
 * the start of the bucket in seconds since 1970), with further groupings `then_key` and so on, one `metric_…` for each selected metric, one
 * `compared_…` if the query is compared, one `total_…` and perhaps `compared_total_…` if it asks for totals, then those of
 * `MarkedRow`. The number of rows before LIMIT is the total of the response.
 *
 * @param nonce marks the rows as those of one request
 * @param group the shards that the project lives across; undefined if it lives on the one that runs the statement
 */
export const buildStatement = (plan: Plan, nonce: string, group?: ShardGroup): Statement =>
  writeStatement(plan, nonce, group, [])

/** Writes the same statement with a column `row_count` in every row: the number of rows before LIMIT. */
export const buildCountingStatement = (
  plan: Plan,
  nonce: string,
  group: ShardGroup | undefined,
): Statement => writeStatement(plan, nonce, group, [sql`count() OVER () AS row_count`])

function writeStatement(
  plan: Plan,
  nonce: string,
  group: ShardGroup | undefined,
  more: readonly Sql[],
): Statement {
  const { query } = plan
  const context = createContext(plan)
  const columns = [
    ...listKeys(query),
    ...selectMetrics(query, query.metrics, listMeasures(listScans(plan))),
    ...selectCompared(plan),
    ...selectTotals(plan),
    ...selectNumberFacts(plan),
    selectOrigin(context.project, nonce),
    ...more,
  ]
  // A single row needs no order, and ClickHouse some time to find that out.
  const order = query.grouping.kind === 'none' ? sql`` : sql` ORDER BY ${orderRows(query)}`
  const groups = writeAllGroups(context, plan, group)
  const settings = query.metrics.some(isNumberMetric) ? sql` SETTINGS ${WHOLE_MAPS}` : sql``
  return statement(
    sql`${writeLargest(context, plan, group)}SELECT ${join(columns)} FROM ${joinTotals(context, plan, groups, group)}${writeHaving(query)}${order} LIMIT ${uint32(query.limit)} OFFSET ${uint32(query.offset)}${settings}`,
  )
}

/** Writes the WITH clause with the largest groups; nothing if the query is not for their series. */
function writeLargest(
  context: StatementContext,
  { ranking }: Plan,
  group: ShardGroup | undefined,
): Sql {
  if (ranking === undefined) return sql``
  return writeRanking(ranking, writeAllGroups(moveContext(context, ranking), ranking, group))
}

/** Writes the groups, with what they are compared with, as a table of FROM. */
function writeAllGroups(context: StatementContext, plan: Plan, group: ShardGroup | undefined): Sql {
  const { userCounting, ranking } = plan
  if (ranking !== undefined) {
    return joinCompared(context, plan, writeRankedSeries(context, plan, group), group)
  }
  if (userCounting.kind !== 'all') {
    return writeTable(plan, writeGroupsWithDeferredUsers(context, plan, userCounting, group))
  }
  const groups = writeGroupsOfProject(context, plan, group)
  return joinCompared(context, plan, groups, group)
}
