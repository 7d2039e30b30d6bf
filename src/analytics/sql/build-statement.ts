/** Writes the one statement that answers a plan. */
import { join, sql, statement, uint32 } from '../../clickhouse/sql.js'
import type { Statement } from '../../clickhouse/sql.js'
import { groups } from './groups.js'
import { orderBy, outputs } from './select.js'
import type { Plan } from '../plan/planner.js'
import { groupsWithUsersLast } from './deferred-users.js'

/**
 * The statement of a plan. Its columns: `group_key` (the group's value, or the number of a bucket),
 * and a `metric_…` for each metric asked for. Its total before LIMIT is that of the answer.
 */
export function buildStatement(plan: Plan): Statement {
  const { limit, offset } = plan.query
  const all = plan.usersOf === 'all' ? groups(plan) : groupsWithUsersLast(plan)
  return statement(
    sql`SELECT ${join([sql`group_key`, ...outputs(plan)])} FROM (${all}) ORDER BY ${orderBy(plan.query)} LIMIT ${uint32(limit)} OFFSET ${uint32(offset)}`,
  )
}
