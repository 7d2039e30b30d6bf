/** Writes the groups of a plan that counts users in a second step, only for groups that can be on the page. */
import { join, sql, uint32, type Sql } from '../../clickhouse/sql.js'
import { MEASURE_COLUMNS } from '../../model/measures.js'
import type { Plan, UserCounting } from '../plan/plan.js'
import { selectCompared, writeCompared } from './comparison.js'
import { listOrderMetrics } from '../request/query.js'
import { listGroupMeasures, listMeasures, writeGroups } from './groups.js'
import type { StatementContext } from './rows.js'
import { GROUP_EVENTS, orderRows, selectMetrics } from './select.js'

type DeferredCounting = Exclude<UserCounting, { kind: 'all' }>

/** Writes the groups of a plan, with users, and what they are compared with, only for the groups that can be on the page. */
export function writeGroupsWithDeferredUsers(
  context: StatementContext,
  plan: Plan,
  counting: DeferredCounting,
): Sql {
  const measures = listGroupMeasures(plan).map((measure) => MEASURE_COLUMNS[measure])
  const { users, keys, definitions } =
    counting.kind === 'page'
      ? countOnPage(context, plan, counting)
      : countCandidates(context, plan, counting)
  const withClauses = [sql`counted AS (${writeGroups(context, plan)})`, ...definitions]
  const columns = [
    sql`counted.group_key AS group_key`,
    ...measures,
    sql`measure_users`,
    ...selectCompared(plan),
  ]
  const compared = writeCompared(context, plan, undefined, keys)
  const others =
    compared === undefined
      ? sql``
      : sql` LEFT JOIN (${compared}) AS compared ON compared.compared_key = counted.group_key`
  return sql`WITH ${join(withClauses)} SELECT ${join(columns)} FROM counted LEFT JOIN (${users}) AS users ON users.group_key = counted.group_key${others}`
}

/** Writes the groups that `keys` selects, each with its number of users. */
const countUsers = (context: StatementContext, { scans }: DeferredCounting, keys: Sql): Sql =>
  writeGroups(context, { scans, rows: 'one' }, keys)

interface DeferredUsers {
  /** A subquery of groups with their number of users. */
  readonly users: Sql
  /** A subquery of the keys of these groups. */
  readonly keys: Sql
  /** Further members of the WITH clause. */
  readonly definitions: readonly Sql[]
}

/** Counts users of the groups on the page, which is ordered by another metric or by group. */
function countOnPage(
  context: StatementContext,
  plan: Plan,
  counting: DeferredCounting,
): DeferredUsers {
  const { limit, offset } = context.query
  const metrics = listOrderMetrics(context.query)
  const columns = selectMetrics(context.query, metrics, listMeasures(plan.scans))
  const keys = sql`SELECT group_key FROM (SELECT ${join([sql`group_key`, ...columns])} FROM counted) ORDER BY ${orderRows(context.query)} LIMIT ${uint32(limit)} OFFSET ${uint32(offset)}`
  const named = nameKeys(plan, keys)
  return { users: countUsers(context, counting, named.keys), ...named }
}

/** Makes an array of keys, if the other period needs them as well: a subquery would be computed again for each scan that reads it. */
function nameKeys({ comparison }: Plan, keys: Sql): Omit<DeferredUsers, 'users'> {
  if (comparison === undefined) return { keys, definitions: [] }
  const definition = sql`(SELECT groupArray(group_key) FROM (${keys})) AS named_keys`
  return { keys: sql`SELECT arrayJoin(named_keys)`, definitions: [definition] }
}

/**
 * Counts users of the groups that can be on the page when it is ordered by users. It first counts those of the groups
 * with the most events, as many groups as there are rows up to the end of the page. A group whose events are fewer than
 * the smallest of these counts cannot come before any of them. Then it counts the users of all other groups.
 */
function countCandidates(
  context: StatementContext,
  plan: Plan,
  counting: DeferredCounting,
): DeferredUsers {
  const { limit, offset } = context.query
  const top = sql`SELECT group_key FROM counted ORDER BY ${GROUP_EVENTS} DESC LIMIT ${uint32(limit + offset)}`
  const others = sql`SELECT group_key FROM counted WHERE ${GROUP_EVENTS} >= arrayMin(first.2) AND group_key NOT IN first.1`
  const { keys, definitions } = nameKeys(plan, others)
  return {
    definitions: [
      sql`(SELECT (groupArray(group_key), groupArray(measure_users)) FROM (${countUsers(context, counting, top)})) AS first`,
      ...definitions,
    ],
    keys: sql`SELECT arrayJoin(first.1) UNION ALL ${keys}`,
    users: sql`SELECT group_key, measure_users FROM (SELECT first.1 AS keys, first.2 AS numbers) ARRAY JOIN keys AS group_key, numbers AS measure_users UNION ALL ${countUsers(context, counting, keys)}`,
  }
}
