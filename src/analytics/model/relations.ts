/** The relations that questions are answered from, with the measures that each can give. */
import { sql, TRUE, type Sql } from '../../clickhouse/sql.js'

export type RelationName = 'events' | 'sessions'

/** What is counted: metrics are made of measures, and measures of different scans add up. */
export type Measure = 'users' | 'pageviews' | 'events' | 'visits' | 'bounces' | 'duration'

export interface Relation {
  readonly table: Sql
  /** The moment by which a row belongs to a period. */
  readonly time: Sql
  /** What makes a row count besides tenant, period and filters. */
  readonly condition: Sql
  /** How a group's rows give a measure. A measure that is missing cannot be answered from here. */
  readonly measures: Readonly<Partial<Record<Measure, Sql>>>
}

export const RELATIONS: Readonly<Record<RelationName, Relation>> = {
  events: {
    table: sql`events`,
    time: sql`timestamp`,
    condition: TRUE,
    measures: {
      users: sql`uniqExact(user)`,
      pageviews: sql`countIf(name = 'pageview')`,
      events: sql`countIf(name != 'pageview')`,
    },
  },
  // A session's row is written again with sign -1 when the session changes: only sums over sign count.
  sessions: {
    table: sql`sessions`,
    time: sql`start_at`,
    condition: sql`pageviews > 0`,
    measures: {
      visits: sql`sum(toInt64(sign))`,
      bounces: sql`sumIf(toInt64(sign), pageviews = 1 AND events = 0)`,
      // Milliseconds.
      duration: sql`sum(sign * (toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at)))`,
    },
  },
}

/** The column that a scan names each measure: never the name of a column of a table. */
export const MEASURE_COLUMNS: Readonly<Record<Measure, Sql>> = {
  users: sql`measure_users`,
  pageviews: sql`measure_pageviews`,
  events: sql`measure_events`,
  visits: sql`measure_visits`,
  bounces: sql`measure_bounces`,
  duration: sql`measure_duration`,
}
