/** Writes the one statement of a funnel. */
import { join, or, sql, statement, uint32, type Sql, type Statement } from '../../clickhouse/sql.js'
import type { FunnelRequest } from '../../contract/api.js'
import { selectOrigin } from '../../model/origin.js'
import type { Plan } from '../plan/plan.js'
import type { Predicate } from '../request/filters.js'
import { writeFilter } from '../sql/filter.js'
import { createContext, writeRowsWithin, type StatementContext } from '../sql/rows.js'
import { toShardContext, writeRowsOfShards, type ShardGroup } from '../sql/shards.js'
import { createWhereWriter } from '../sql/where.js'
import { writeCompletions } from './completions.js'

export interface Funnel {
  /** The plan of the events that all steps look at. */
  readonly plan: Plan
  readonly steps: readonly Predicate[]
  readonly within: FunnelRequest['within']
}

/** The row of the statement. */
export interface FunnelRow {
  /** How many users complete each step; empty if there is no event. */
  readonly users: readonly number[]
  /** For each step but the first, the median of the milliseconds from the step before it; null if nobody completes it. */
  readonly medians: readonly (number | null)[]
}

/** Writes the statement. @param group the shards that the project lives across; undefined if there is only one */
export function buildFunnelStatement(funnel: Funnel, nonce: string, group?: ShardGroup): Statement {
  const context = createContext(funnel.plan)
  const steps =
    group === undefined ? countSteps(context, funnel) : countOnShards(context, funnel, group)
  return statement(
    sql`SELECT users, medians, ${selectOrigin(context.project, nonce)} FROM (${steps}) AS steps`,
  )
}

/** The median is the middle of all times, or the mean of the two in the middle. */
const MEDIAN = sql`quantileExactInclusiveIf`

/** Writes the users of each step, and the medians. */
const countSteps = (context: StatementContext, funnel: Funnel): Sql =>
  sql`SELECT ${COUNT_USERS} AS users, [${writeMedians(funnel, sql``)}] AS medians FROM (${writeUsers(context, funnel)}) AS completions`

/** A user is on one shard, so counts add up. Medians do not: each shard sends all times. */
function countOnShards(context: StatementContext, funnel: Funnel, group: ShardGroup): Sql {
  const completions = writeUsers(toShardContext(context, group), funnel)
  const view = sql`SELECT ${COUNT_USERS} AS users, [${writeMedians(funnel, sql`State`)}] AS states FROM (${completions}) AS completions`
  const medians = funnel.steps
    .slice(1)
    .map((_step, i) => sql`${MEDIAN}Merge(0.5)(shards.states[${uint32(i + 1)}])`)
  return sql`SELECT sumForEach(shards.users) AS users, [${join(medians)}] AS medians FROM ${writeRowsOfShards(group, view)}`
}

const COUNT_USERS = sql`sumForEach(arrayMap(gap -> toInt64(gap > 0), gaps))`

const writeMedians = ({ steps }: Funnel, suffix: Sql): Sql =>
  join(
    steps.slice(1).map((_step, i) => {
      const gap = sql`gaps[${uint32(i + 2)}]`
      return sql`${MEDIAN}${suffix}(0.5)(${gap}, ${gap} > 0)`
    }),
  )

const writeUsers = (context: StatementContext, funnel: Funnel): Sql =>
  writeCompletions(selectEntries(context, funnel), funnel.steps.length, funnel.within)

/**
 * Selects an entry for each event and each step that it matches: the milliseconds of the event and the step as one number. Among
 * entries of the same moment, those of later steps come first: an event cannot follow another one of its moment.
 */
function selectEntries(context: StatementContext, { plan, steps }: Funnel): Sql {
  const conditions = steps.map((predicate) =>
    writeFilter({ ...context, where: createWhereWriter(predicate) }, 'events'),
  )
  const codes = conditions.map(
    (condition, i) => sql`if(${condition}, ${uint32(ENTRY_RADIX - 1 - i)}, 0)`,
  )
  const rows = writeRowsWithin(
    context,
    'events',
    [plan.query.period],
    [writeFilter(context, 'events'), or(conditions)],
  )
  const moment = sql`(toUnixTimestamp64Milli(timestamp) + 1) * ${uint32(ENTRY_RADIX)}`
  return sql`SELECT user, session, ${moment} + arrayJoin(arrayFilter(code -> code > 0, [${join(codes)}])) AS entry FROM ${rows}`
}

/** An entry is a multiple of this for its moment, plus the number less 1 for the first step, less 2 for the second and so on. */
export const ENTRY_RADIX = 16
