/** The relations that questions are answered from, the cheapest first, with the measures that each can give. */
import { sql, TRUE, type Sql } from '../clickhouse/sql.js'

/** What groups a rollup counts by: session attributes and in total, pages, names and properties of events. */
export type RollupSubject = 'sessions' | 'pageviews' | 'events'
type RollupName = `${RollupSubject | 'users'}_${'monthly' | 'daily'}`
export type RelationName = RollupName | 'events' | 'sessions'

/** What is counted: metrics are made of measures, and measures of different scans add up. */
export type Measure = 'users' | 'pageviews' | 'events' | 'visits' | 'bounces' | 'duration'

/** How finely rows tell the time: a relation answers for whole months, whole days, or any period. */
export type Grain = 'month' | 'day' | 'moment'

export interface Relation {
  readonly table: Sql
  readonly grain: Grain
  /** The moment by which a row belongs to a bucket. */
  readonly time: Sql
  /** That a row lies in a period, from the fragments of its bounds. */
  readonly within: (start: Sql, end: Sql) => Sql
  /** What makes a row count besides tenant, period and filters. */
  readonly condition: Sql
  /**
   * Of a rollup: whose groups it has, each in rows of `dimension` and `value`; `users` has those of all
   * families. Absent: the relation is a table of facts.
   */
  readonly rollup?: RollupSubject | 'users'
  /** How a group's rows give a measure. A measure that is missing cannot be answered from here. */
  readonly measures: Readonly<Partial<Record<Measure, Sql>>>
  /** The users of a group's rows as a set that can be united with others. */
  readonly userSet?: Sql
  /** Whether a group's rows show that events match. Absent: no group is made by them. */
  readonly isGroup?: Sql
}

const monthly = {
  grain: 'month',
  time: sql`toDateTime64(month, 3, 'UTC')`,
  within: (start: Sql, end: Sql) => sql`month >= toDate(${start}) AND month < toDate(${end})`,
} as const

const daily = {
  grain: 'day',
  time: sql`toDateTime64(day, 3, 'UTC')`,
  within: (start: Sql, end: Sql) => sql`day >= toDate(${start}) AND day < toDate(${end})`,
} as const

const users = {
  condition: TRUE,
  rollup: 'users',
  measures: { users: sql`groupBitmapMerge(users)` },
  userSet: sql`groupBitmapMergeState(users)`,
} as const

const OF_EVENTS = { pageviews: sql`sum(pageviews)`, events: sql`sum(events)` }
const OF_VISITS = {
  visits: sql`sum(visits)`,
  bounces: sql`sum(bounces)`,
  duration: sql`sum(duration)`,
}

const counts = (rollup: RollupSubject, measures: Relation['measures']) => ({
  condition: TRUE,
  rollup,
  measures,
  // What events were moved away from stays behind as a row of zeros until a merge.
  isGroup: sql`sum(pageviews + events) > 0`,
})

export const RELATIONS: Readonly<Record<RelationName, Relation>> = {
  sessions_monthly: {
    table: sql`sessions_monthly`,
    ...monthly,
    ...counts('sessions', { ...OF_EVENTS, ...OF_VISITS }),
  },
  pageviews_monthly: {
    table: sql`pageviews_monthly`,
    ...monthly,
    ...counts('pageviews', { ...OF_EVENTS, ...OF_VISITS }),
  },
  events_monthly: { table: sql`events_monthly`, ...monthly, ...counts('events', OF_EVENTS) },
  users_monthly: { table: sql`users_monthly`, ...monthly, ...users },
  sessions_daily: {
    table: sql`sessions_daily`,
    ...daily,
    ...counts('sessions', { ...OF_EVENTS, ...OF_VISITS }),
  },
  pageviews_daily: {
    table: sql`pageviews_daily`,
    ...daily,
    ...counts('pageviews', { ...OF_EVENTS, ...OF_VISITS }),
  },
  events_daily: { table: sql`events_daily`, ...daily, ...counts('events', OF_EVENTS) },
  users_daily: { table: sql`users_daily`, ...daily, ...users },
  // A session's row is written again with sign -1 when the session changes: only sums over sign count.
  sessions: {
    table: sql`sessions`,
    grain: 'moment',
    time: sql`start_at`,
    within: (start, end) => sql`start_at >= ${start} AND start_at < ${end}`,
    condition: sql`pageviews > 0`,
    measures: {
      visits: sql`sum(toInt64(sign))`,
      bounces: sql`sumIf(toInt64(sign), pageviews = 1 AND events = 0)`,
      // Milliseconds.
      duration: sql`sum(sign * (toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at)))`,
    },
  },
  events: {
    table: sql`events`,
    grain: 'moment',
    time: sql`timestamp`,
    within: (start, end) => sql`timestamp >= ${start} AND timestamp < ${end}`,
    condition: TRUE,
    measures: {
      users: sql`uniqExact(user)`,
      pageviews: sql`toInt64(countIf(name = 'pageview'))`,
      events: sql`toInt64(countIf(name != 'pageview'))`,
    },
    userSet: sql`groupBitmapState(user)`,
    isGroup: TRUE,
  },
}

/** All of them, the cheapest first; and those that rollups are made of. */
export const ALL_RELATIONS = Object.keys(RELATIONS) as readonly RelationName[]
export const FACTS: readonly RelationName[] = ALL_RELATIONS.filter(
  (name) => RELATIONS[name].rollup === undefined,
)

/** The column that a scan names each measure: never the name of a column of a table. */
export const MEASURE_COLUMNS: Readonly<Record<Measure, Sql>> = {
  users: sql`measure_users`,
  pageviews: sql`measure_pageviews`,
  events: sql`measure_events`,
  visits: sql`measure_visits`,
  bounces: sql`measure_bounces`,
  duration: sql`measure_duration`,
}
