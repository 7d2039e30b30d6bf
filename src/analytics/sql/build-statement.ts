/** Writes the one statement that answers a plan. */
import { join, sql, statement, string, uint32, type Statement } from '../../clickhouse/sql.js'
import { selectOrigin } from '../../model/origin.js'
import { listScans, type Plan } from '../plan/plan.js'
import { writeGroupsWithDeferredUsers } from './deferred-users.js'
import { listMeasures, writeGroups } from './groups.js'
import { orderRows, selectMetrics } from './select.js'
import { createWhereWriter } from './where.js'

/**
 * Writes the statement of a plan. Its columns are `group_key` (the value of the group, or the number of the bucket) and
 * one `metric_…` for each selected metric, then those of `MarkedRow`. The number of rows before LIMIT is the total of the
 * response.
 *
 * @param nonce marks the rows as those of one request
 */
export function buildStatement(plan: Plan, nonce: string): Statement {
  const { query, userCounting, readsDays } = plan
  const project = string(query.projectId)
  const context = { query, project, where: createWhereWriter(query.predicate), readsDays }
  const groups =
    userCounting.kind === 'all'
      ? writeGroups(context, plan)
      : writeGroupsWithDeferredUsers(context, plan, userCounting)
  const columns = [
    sql`group_key`,
    ...selectMetrics(query.metrics, listMeasures(listScans(plan))),
    selectOrigin(project, nonce),
  ]
  // A single row needs no order, and ClickHouse some time to find that out.
  const order = query.grouping.kind === 'none' ? sql`` : sql` ORDER BY ${orderRows(query)}`
  return statement(
    sql`SELECT ${join(columns)} FROM (${groups})${order} LIMIT ${uint32(query.limit)} OFFSET ${uint32(query.offset)}`,
  )
}
