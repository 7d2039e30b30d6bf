/** Writes the one statement of a funnel. */
import { join, or, sql, statement, uint32, type Sql, type Statement } from '../../clickhouse/sql.js'
import type { FunnelRequest } from '../../contract/api.js'
import { SECOND_MS } from '../../lib/time.js'
import { selectOrigin } from '../../model/origin.js'
import type { Plan } from '../plan/plan.js'
import type { Predicate } from '../request/filters.js'
import { writeFilter } from '../sql/filter.js'
import { createContext, writeRowsWithin, type StatementContext } from '../sql/rows.js'
import { toShardContext, writeRowsOfShards, type ShardGroup } from '../sql/shards.js'
import { createWhereWriter } from '../sql/where.js'
import { writeCompletionsInTime } from './in-time.js'
import { writeCompletionsInVisits } from './in-visits.js'
import { listLaterSteps, nameGap, nameMatches, type MatchingEvents } from './names.js'

export interface Funnel {
  /** The plan of the events that all steps look at. */
  readonly plan: Plan
  readonly steps: readonly Predicate[]
  readonly within: FunnelRequest['within']
}

/** The row of the statement. */
export interface FunnelRow {
  /** How many users complete each step. */
  readonly users: readonly number[]
  /** For each step but the first, the median of the milliseconds from the step before it; null if nobody completes it. */
  readonly medians: readonly (number | null)[]
}

/** Writes the statement. @param group the shards that the project lives across; undefined if there is only one */
export function buildFunnelStatement(funnel: Funnel, nonce: string, group?: ShardGroup): Statement {
  const context = createContext(funnel.plan)
  const origin = selectOrigin(context.project, nonce)
  return statement(
    group === undefined
      ? countSteps(context, funnel, origin)
      : countOnShards(context, funnel, origin, group),
  )
}

/** The median is the middle of all times, or the mean of the two in the middle. */
const MEDIAN = sql`quantileExactInclusiveIf`

/** Writes the users of each step, and the medians. */
const countSteps = (context: StatementContext, funnel: Funnel, origin: Sql): Sql =>
  sql`SELECT ${countUsers(funnel)} AS users, [${writeMedians(funnel, sql``)}] AS medians, ${origin} FROM (${writeUsers(context, funnel)}) AS completions`

/** A user is on one shard, so counts add up. Medians do not: each shard sends all times. */
function countOnShards(
  context: StatementContext,
  funnel: Funnel,
  origin: Sql,
  group: ShardGroup,
): Sql {
  const completions = writeUsers(toShardContext(context, group), funnel)
  const view = sql`SELECT ${countUsers(funnel)} AS users, [${writeMedians(funnel, sql`State`)}] AS states FROM (${completions}) AS completions`
  const medians = funnel.steps
    .slice(1)
    .map((_step, i) => sql`${MEDIAN}Merge(0.5)(shards.states[${uint32(i + 1)}])`)
  return sql`SELECT sumForEach(shards.users) AS users, [${join(medians)}] AS medians, ${origin} FROM ${writeRowsOfShards(group, view)}`
}

/** Every user completes the first step. */
function countUsers({ steps }: Funnel): Sql {
  const later = listLaterSteps(steps.length).map((step) => sql`countIf(${nameGap(step)} > 0)`)
  return sql`CAST([${join([sql`count()`, ...later])}], 'Array(Int64)')`
}

const writeMedians = ({ steps }: Funnel, suffix: Sql): Sql =>
  join(
    listLaterSteps(steps.length).map(
      (step) => sql`${MEDIAN}${suffix}(0.5)(${nameGap(step)}, ${nameGap(step)} > 0)`,
    ),
  )

/** Writes the users who complete the first step, with how long each other step takes them. */
function writeUsers(context: StatementContext, funnel: Funnel): Sql {
  const { steps, within } = funnel
  const events = selectEvents(context, funnel)
  return within === 'visit'
    ? writeCompletionsInVisits(events, steps.length)
    : writeCompletionsInTime(events, steps.length, within * SECOND_MS)
}

/** Selects the events that match any step. */
function selectEvents(context: StatementContext, { plan, steps }: Funnel): MatchingEvents {
  const conditions = steps.map((predicate) =>
    writeFilter({ ...context, where: createWhereWriter(predicate) }, 'events'),
  )
  const matches = conditions.map((condition, i) => sql`${condition} AS ${nameMatches(i + 1)}`)
  return {
    names: sql`WITH ${join([sql`toUnixTimestamp64Milli(timestamp) + 1 AS moment`, ...matches])}`,
    rows: writeRowsWithin(
      context,
      'events',
      [plan.query.period],
      [writeFilter(context, 'events'), or(conditions)],
    ),
  }
}
