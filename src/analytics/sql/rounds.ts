/**
 * Writes the statements of a plan that counts users last, for a project that lives across several shards. No statement can ask the
 * shards twice, so each step is a statement of its own: a round.
 */
import {
  join,
  sql,
  statement,
  strings,
  uint32,
  type Sql,
  type Statement,
} from '../../clickhouse/sql.js'
import type { Metric } from '../../contract/api.js'
import { EVENT_SUMS } from '../../model/measures.js'
import { selectOrigin } from '../../model/origin.js'
import { mergeSteps, type Plan, type Scan } from '../plan/plan.js'
import { joinCompared, selectCompared, writeTable } from './comparison.js'
import { listMeasures } from './groups.js'
import { createContext, type StatementContext } from './rows.js'
import { GROUP_EVENTS, orderRows, selectMetrics } from './select.js'
import { writeGroupsOfShards, type ShardGroup } from './shards.js'
import { joinTotals, selectTotals } from './totals.js'

/**
 * Writes the first round: the groups with all metrics but users, their number of events as `group_events`, and the totals, if
 * the query asks for them. The number of rows before LIMIT is the total of the response.
 *
 * @param most how many groups with the most events are listed; absent: the groups on the page
 */
export function buildFirstRound(
  plan: Plan,
  nonce: string,
  group: ShardGroup,
  most?: number,
): Statement {
  const { query } = plan
  const context = createContext(plan)
  const scans = plan.scans.map(addEvents)
  const metrics = query.metrics.filter((metric) => metric !== 'users')
  const groups = writeGroupsOfShards(context, { ...plan, scans }, group)
  const order = most === undefined ? orderRows(query) : sql`group_events DESC`
  const [limit, offset] = most === undefined ? [query.limit, query.offset] : [most, 0]
  const columns = join([selectColumns(context, metrics, scans, nonce), ...selectTotals(plan)])
  return statement(
    sql`SELECT ${columns} FROM ${joinTotals(context, plan, writeTable(plan, groups), group)} ORDER BY ${order} LIMIT ${uint32(limit)} OFFSET ${uint32(offset)}`,
  )
}

/**
 * Writes a later round: some groups with all metrics and `group_events`, and with what they are compared with, in any order.
 */
export function buildUsersRound(
  plan: Plan,
  nonce: string,
  group: ShardGroup,
  keys: readonly string[],
): Statement {
  const context = createContext(plan)
  const scans = mergeSteps({ ...plan, scans: plan.scans.map(addEvents) })
  const ofKeys = strings(keys)
  const groups = writeGroupsOfShards(context, { ...plan, scans }, group, ofKeys)
  const columns = join([
    selectColumns(context, plan.query.metrics, scans, nonce),
    ...selectCompared(plan),
  ])
  return statement(
    sql`SELECT ${columns} FROM ${joinCompared(context, plan, groups, group, ofKeys)}`,
  )
}

const selectColumns = (
  { query, project }: StatementContext,
  metrics: readonly Metric[],
  scans: readonly Scan[],
  nonce: string,
): Sql =>
  join([
    sql`group_key`,
    ...selectMetrics(query, metrics, listMeasures(scans)),
    sql`${GROUP_EVENTS} AS group_events`,
    selectOrigin(project, nonce),
  ])

/** Adds the number of events to a scan that finds the groups: it reads them anyway. */
const addEvents = (scan: Scan): Scan =>
  scan.makesGroups ? { ...scan, measures: [...new Set([...scan.measures, ...EVENT_SUMS])] } : scan
