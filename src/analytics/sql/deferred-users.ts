/**
 * Writes the groups of a plan that counts users in a second step, only for groups that can be on the page.
 *
 * The statement begins with arrays, each computed once from those before: all groups with their measures, and then the keys of
 * the groups whose users are counted. The shards read only the users of these groups, too.
 */
import { join, sql, uint32, type Sql } from '../../clickhouse/sql.js'
import { getColumn } from '../../model/measures.js'
import type { Plan, UserCounting } from '../plan/plan.js'
import { selectCompared, writeCompared } from './comparison.js'
import { listOrderMetrics } from '../request/query.js'
import { listGroupMeasures, listMeasures } from './groups.js'
import type { StatementContext } from './rows.js'
import { GROUP_EVENTS, orderRows, selectMetrics } from './select.js'
import { writeGroupsOfProject, type ShardGroup } from './shards.js'

type DeferredCounting = Exclude<UserCounting, { kind: 'all' }>

/** Writes the groups of a plan, with users, and what they are compared with, only for the groups that can be on the page. */
export function writeGroupsWithDeferredUsers(
  context: StatementContext,
  plan: Plan,
  counting: DeferredCounting,
  group: ShardGroup | undefined,
): Sql {
  const measures = listGroupMeasures(plan).map(getColumn)
  const countUsers = (keys: Sql): Sql =>
    writeGroupsOfProject(context, { scans: counting.scans, rows: 'one' }, group, keys)
  const { users, keys, definitions } =
    counting.kind === 'page'
      ? countOnPage(context, plan, countUsers)
      : countCandidates(context, countUsers)
  const columns = [
    sql`counted.group_key AS group_key`,
    ...measures,
    sql`measure_users`,
    ...selectCompared(plan),
  ]
  const compared = writeCompared(context, plan, group, keys)
  const others =
    compared === undefined
      ? sql``
      : sql` LEFT JOIN (${compared}) AS compared ON compared.compared_key = counted.group_key`
  const withClauses = [...writeCounted(context, plan, group), ...definitions]
  return sql`WITH ${join(withClauses)} SELECT ${join(columns)} FROM counted LEFT JOIN (${users}) AS users ON users.group_key = counted.group_key${others}`
}

/** Writes the table `counted`: all groups without users, read once. ClickHouse keeps no rows of a table of WITH, but it keeps an array. */
function writeCounted(
  context: StatementContext,
  plan: Plan,
  group: ShardGroup | undefined,
): readonly Sql[] {
  const columns = [sql`group_key`, ...listGroupMeasures(plan).map(getColumn)]
  const groups = writeGroupsOfProject(context, plan, group)
  const members = columns.map((column, i) => sql`tupleElement(one, ${uint32(i + 1)}) AS ${column}`)
  return [
    sql`(SELECT groupArray(tuple(${join(columns)})) FROM (${groups})) AS all_counted`,
    sql`counted AS (SELECT ${join(members)} FROM (SELECT arrayJoin(all_counted) AS one))`,
  ]
}

/** Writes the users of the groups that a subquery selects. */
type CountUsers = (keys: Sql) => Sql

interface DeferredUsers {
  /** A subquery of groups with their number of users. */
  readonly users: Sql
  /** A subquery of the keys of these groups. */
  readonly keys: Sql
  /** Further members of the WITH clause. */
  readonly definitions: readonly Sql[]
}

/** Counts users of the groups on the page, which is ordered by another metric or by group. */
function countOnPage(context: StatementContext, plan: Plan, countUsers: CountUsers): DeferredUsers {
  const { limit, offset } = context.query
  const metrics = listOrderMetrics(context.query)
  const columns = selectMetrics(context.query, metrics, listMeasures(plan.scans))
  const onPage = sql`SELECT group_key FROM (SELECT ${join([sql`group_key`, ...columns])} FROM counted) ORDER BY ${orderRows(context.query)} LIMIT ${uint32(limit)} OFFSET ${uint32(offset)}`
  const keys = sql`SELECT arrayJoin(page_keys)`
  return {
    definitions: [sql`(SELECT groupArray(group_key) FROM (${onPage})) AS page_keys`],
    keys,
    users: countUsers(keys),
  }
}

/**
 * Counts users of the groups that can be on the page when it is ordered by users. It first counts those of the groups
 * with the most events, as many groups as there are rows up to the end of the page. A group whose events are fewer than
 * the smallest of these counts cannot come before any of them. Then it counts the users of all other groups.
 */
function countCandidates(context: StatementContext, countUsers: CountUsers): DeferredUsers {
  const { limit, offset } = context.query
  const top = sql`SELECT group_key FROM counted ORDER BY ${GROUP_EVENTS} DESC LIMIT ${uint32(limit + offset)}`
  const first = countUsers(sql`SELECT arrayJoin(top_keys)`)
  const others = sql`SELECT group_key FROM counted WHERE ${GROUP_EVENTS} >= arrayMin(first.2) AND group_key NOT IN (SELECT arrayJoin(first.1))`
  return {
    definitions: [
      sql`(SELECT groupArray(group_key) FROM (${top})) AS top_keys`,
      sql`(SELECT (groupArray(group_key), groupArray(measure_users)) FROM (${first})) AS first`,
      sql`(SELECT groupArray(group_key) FROM (${others})) AS other_keys`,
    ],
    keys: sql`SELECT arrayJoin(arrayConcat(first.1, other_keys))`,
    users: sql`SELECT group_key, measure_users FROM (SELECT first.1 AS keys, first.2 AS numbers) ARRAY JOIN keys AS group_key, numbers AS measure_users UNION ALL ${countUsers(sql`SELECT arrayJoin(other_keys)`)}`,
  }
}
