/** The relations that the planner chooses from: rollups and facts, each with the measures that it provides. */
import { declaredName, sql, type Sql } from '../clickhouse/sql.js'
import { buildRecord, indexByName } from '../lib/records.js'
import { IS_VISIT, isCustomEvent, isPageview, VISIT_AGGREGATES } from './facts.js'
import { countConversions } from './goals.js'
import { isOfEvents, isOfNumbers, type Measure, type NamedMeasure } from './measures.js'
import { aggregateNumbers, aggregateStored } from './numbers.js'
import { LIVE } from './rollup-table-sets.js'
import {
  isOfPairedProjects,
  ROLLUPS,
  type Rollup,
  type RollupName,
  type RollupSubject,
  type UserSubject,
} from './rollups.js'

/**
 * The facts. `whole_sessions` are the sessions with their sums of events, for questions about session attributes: what
 * sessions that cross an edge of the period did outside of it is corrected by their events.
 */
type FactName = 'events' | 'sessions' | 'whole_sessions'
export type RelationName = RollupName | FactName

/** How exactly rows are dated: a relation can answer for whole months, whole days, or any period. */
export type Grain = 'month' | 'day' | 'moment'

/** A column with the day of each row, for reading whole days and for buckets of days. */
interface DayColumn {
  readonly column: Sql
  /** All columns of the table. Those that are computed from others do not belong to `*`. */
  readonly columns: Sql
}

export interface Relation {
  readonly name: RelationName
  readonly table: Sql
  readonly grain: Grain
  /** The rank of its reading cost: the planner tries relations of a low cost first. */
  readonly cost: number
  /** The moment that decides which bucket a row belongs to. */
  readonly time: Sql
  /** Builds the condition that a row lies in the period from `start` to just before `end`. */
  readonly isWithin: (start: Sql, end: Sql) => Sql
  /** The day of a row as a column of its own, which is cheaper to read than its moment. Absent where there is none. */
  readonly day?: DayColumn
  /** The column of the sorting key that has the day of a row. Absent where rows are of whole months. */
  readonly dayKey?: Sql
  /** The conditions that rows must satisfy besides project, period and filters. */
  readonly conditions: readonly Sql[]
  /** Which groups a rollup has. Absent for facts. */
  readonly rollup?: RollupSubject | UserSubject
  /** Computes each measure from the rows of a group. The relation cannot answer a measure that is missing. */
  readonly measures: Readonly<Partial<Record<NamedMeasure, Sql>>>
  /** Whether its rows are single events, which have numbers in properties and may be conversions. */
  readonly hasEvents?: true
  /** Computes the users of a group's rows as a bitmap that can be united with others. */
  readonly userBitmap?: Sql
  /** Whether a group has matching events. Absent where rows cannot show it. */
  readonly isGroup?: Sql
}

/** A row of a coarser grain stands for more facts, so there are fewer rows to read. */
const COSTS: Readonly<Record<Grain, number>> = { month: 1, day: 2, moment: 3 }

function describeRollup(rollup: Rollup): Relation {
  const { name, subject, grain, dateColumn } = rollup
  return {
    name,
    table: LIVE.rollups[name],
    grain,
    cost: COSTS[grain],
    time: sql`toDateTime64(${dateColumn}, 3, 'UTC')`,
    isWithin: (start, end) =>
      sql`${dateColumn} >= toDate(${start}) AND ${dateColumn} < toDate(${end})`,
    ...(grain === 'day' ? { dayKey: dateColumn } : {}),
    conditions: [],
    rollup: subject,
    ...describeColumns(rollup),
  }
}

function describeColumns({
  subject,
  sums,
}: Rollup): Pick<Relation, 'measures' | 'userBitmap' | 'isGroup'> {
  if (sums.length === 0)
    return {
      measures: { users: sql`groupBitmapMerge(users)` },
      userBitmap: sql`groupBitmapMergeState(users)`,
    }
  if (subject === 'numbers') return { measures: {} }
  return {
    measures: buildRecord(sums, (measure) => sql`sum(${declaredName(measure)})`),
    // Events that were moved away leave rows of zeros behind until parts are merged.
    isGroup: sql`sum(pageviews + events) > 0`,
  }
}

/** Whether a session started in a period. */
const isStartWithin = (start: Sql, end: Sql): Sql => sql`start_at >= ${start} AND start_at < ${end}`

const START_DAY = {
  day: { column: sql`start_day`, columns: sql`*, start_day, duration_ms` },
  dayKey: sql`toDate(start_at)`,
}

const SESSIONS: Relation = {
  name: 'sessions',
  table: LIVE.sessions,
  grain: 'moment',
  cost: COSTS.moment,
  time: sql`start_at`,
  isWithin: isStartWithin,
  conditions: [IS_VISIT],
  // The stored duration is cheaper to read than what it follows from.
  measures: { ...VISIT_AGGREGATES, duration: sql`sum(sign * duration_ms)` },
  ...START_DAY,
}

/** The rows that src/analytics/sql/whole-sessions.ts writes: states of sessions, and single events. */
const WHOLE_SESSIONS: Relation = {
  name: 'whole_sessions',
  table: LIVE.sessions,
  grain: 'moment',
  cost: COSTS.moment,
  time: sql`start_at`,
  isWithin: isStartWithin,
  conditions: [],
  measures: {
    users: sql`uniqExactIf(user, has_user)`,
    // While a load is published, events of a session may be stored before its state.
    pageviews: sql`greatest(0, sum(own_pageviews))`,
    events: sql`greatest(0, sum(own_events))`,
    visits: sql`sumIf(toInt64(sign), ${IS_VISIT})`,
    bounces: VISIT_AGGREGATES.bounces,
    duration: sql`sumIf(sign * duration_ms, ${IS_VISIT})`,
  },
  ...START_DAY,
  userBitmap: sql`groupBitmapStateIf(user, has_user)`,
  isGroup: sql`sum(own_pageviews + own_events) > 0`,
}

/** The UTC day of an event, as the sorting key has it. */
export const DAY_OF_EVENT = sql`toDate(timestamp)`

const EVENTS: Relation = {
  name: 'events',
  table: sql`events`,
  grain: 'moment',
  cost: COSTS.moment,
  time: sql`timestamp`,
  isWithin: (start, end) => sql`timestamp >= ${start} AND timestamp < ${end}`,
  day: { column: sql`day`, columns: sql`*, day, numbers` },
  dayKey: DAY_OF_EVENT,
  conditions: [],
  hasEvents: true,
  measures: {
    users: sql`uniqExact(user)`,
    pageviews: sql`toInt64(countIf(${isPageview(sql`name`)}))`,
    events: sql`toInt64(countIf(${isCustomEvent(sql`name`)}))`,
  },
  userBitmap: sql`groupBitmapState(user)`,
  isGroup: sql`true`,
}

/** Sorting is stable: relations of the same cost keep the order of this list. Sessions are fewer than events. */
const ALL: readonly Relation[] = [
  ...ROLLUPS.map(describeRollup),
  WHOLE_SESSIONS,
  SESSIONS,
  EVENTS,
].sort((one, other) => one.cost - other.cost)

/** All relations, the cheapest first. */
export const ALL_RELATIONS: readonly RelationName[] = ALL.map(({ name }) => name)

/** The relations that rollups are computed from: sessions and events themselves. */
export const FACTS: readonly RelationName[] = ALL.filter(({ rollup }) => rollup === undefined).map(
  ({ name }) => name,
)

export const RELATIONS: Readonly<Record<RelationName, Relation>> = indexByName(ALL)

/** Whether only projects whose pairs are counted have a relation. */
export function needsPairs(name: RelationName): boolean {
  const { rollup } = RELATIONS[name]
  return rollup !== undefined && isOfPairedProjects({ subject: rollup })
}

/** The relations of projects whose pairs are not counted. */
export const WITHOUT_PAIRS: readonly RelationName[] = ALL_RELATIONS.filter(
  (name) => !needsPairs(name),
)

export const isRollup = (name: RelationName): boolean => RELATIONS[name].rollup !== undefined

/** Computes a measure from the rows of a group of a relation; undefined if the relation cannot answer it. */
export function computeMeasure(name: RelationName, measure: Measure): Sql | undefined {
  const { measures, hasEvents = false, rollup } = RELATIONS[name]
  if (!isOfEvents(measure)) return measures[measure]
  if (rollup === 'events' && isOfNumbers(measure)) return aggregateStored(measure, 'ofValues')
  if (rollup === 'numbers' && isOfNumbers(measure)) return aggregateStored(measure, 'ofSums')
  if (!hasEvents) return undefined
  return isOfNumbers(measure) ? aggregateNumbers(measure) : countConversions(measure)
}
