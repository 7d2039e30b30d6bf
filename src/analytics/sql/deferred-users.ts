/** Writes the groups of a plan that counts users last: only of those that can get onto the page. */
import { join, sql, uint32, type Sql } from '../../clickhouse/sql.js'
import { groups } from './groups.js'
import { MEASURE_COLUMNS } from '../../model/measures.js'
import { orderBy, outputs } from './select.js'
import type { Plan } from '../plan/planner.js'

/** The groups as SQL; what has no place on the page is left without users. */
export function groupsWithUsersLast(plan: Plan): Sql {
  const counted = countedAlone(plan)
  const measures = new Set(counted.scans.flatMap((scan) => scan.measures))
  const columns = [...measures].map((measure) => MEASURE_COLUMNS[measure])
  const { users, known } = plan.usersOf === 'page' ? ofPage(plan, counted) : ofBounded(plan)
  const ahead = [sql`counted AS (${groups(counted)})`, ...known]
  return sql`WITH ${join(ahead)} SELECT ${join([sql`counted.group_key AS group_key`, ...columns, sql`measure_users`])} FROM counted LEFT JOIN (${users}) AS users ON users.group_key = counted.group_key`
}

/** The plan without users: all its groups, and the other measures. */
function countedAlone(plan: Plan): Plan {
  const scans = plan.scans.map((scan) => ({
    ...scan,
    measures: scan.measures.filter((measure) => measure !== 'users'),
  }))
  return {
    ...plan,
    scans: scans.filter(({ measures, makesGroups }) => makesGroups || measures.length > 0),
  }
}

/** The groups of some keys with their users. */
const usersOf = (plan: Plan, keys: Sql): Sql =>
  groups(
    {
      ...plan,
      scans: plan.scans
        .filter(({ measures }) => measures.includes('users'))
        .map((scan) => ({ ...scan, measures: ['users'], makesGroups: false })),
      rows: 'one',
    },
    keys,
  )

interface Users {
  /** Groups with their users. */
  readonly users: Sql
  /** What is found out beforehand, and once. */
  readonly known: readonly Sql[]
}

/** Users of the groups on the page: another metric tells which, or the order of groups. */
function ofPage(plan: Plan, { scans }: Plan): Users {
  const { order, limit, offset } = plan.query
  const metrics = order.by === 'group' ? [] : [order.by]
  const columns = outputs({ ...plan, scans, query: { ...plan.query, metrics } })
  const keys = sql`SELECT group_key FROM (SELECT ${join([sql`group_key`, ...columns])} FROM counted) ORDER BY ${orderBy(plan.query)} LIMIT ${uint32(limit)} OFFSET ${uint32(offset)}`
  return { users: usersOf(plan, keys), known: [] }
}

const BOUND = sql`measure_pageviews + measure_events`

/**
 * Users of the groups that can get onto the page by them. Whoever is counted has an event, so a group has
 * at most as many users as events. Of the groups with most events as many as the page reaches down to are
 * counted first; what has fewer events than the least of those has users cannot come before any of them.
 */
function ofBounded(plan: Plan): Users {
  const { limit, offset } = plan.query
  const top = sql`SELECT group_key FROM counted ORDER BY ${BOUND} DESC LIMIT ${uint32(limit + offset)}`
  const others = sql`SELECT group_key FROM counted WHERE ${BOUND} >= arrayMin(first.2) AND group_key NOT IN first.1`
  return {
    known: [
      sql`(SELECT (groupArray(group_key), groupArray(measure_users)) FROM (${usersOf(plan, top)})) AS first`,
    ],
    users: sql`SELECT group_key, measure_users FROM (SELECT first.1 AS keys, first.2 AS numbers) ARRAY JOIN keys AS group_key, numbers AS measure_users UNION ALL ${usersOf(plan, others)}`,
  }
}
