/** The tables of the rollups: those that questions read, and drafts of the same form. */
import { identifier, sql, type Sql } from '../clickhouse/sql.js'

/** Where changes come in, and what they come to. */
export interface RollupTables {
  /** What the names of the tables, and of the views between them, begin with. */
  readonly prefix: string
  /** A row an event, with `sign`; keeps nothing. */
  readonly eventChanges: Sql
  /** A row a state of a session, with `sign`. */
  readonly sessions: Sql
  /** A row a day and group; keeps nothing. */
  readonly rollupChanges: Sql
  readonly rollups: Readonly<Record<RollupName, Sql>>
}

export type RollupName = (typeof ROLLUP_NAMES)[number]

/** The rollups, each with the column of its day or month. */
export const ROLLUP_NAMES = [
  'sessions_daily',
  'sessions_monthly',
  'pageviews_daily',
  'pageviews_monthly',
  'events_daily',
  'events_monthly',
  'users_daily',
  'users_monthly',
] as const

/** What the loader feeds, and questions read. */
export const LIVE: RollupTables = {
  prefix: '',
  eventChanges: sql`event_changes`,
  sessions: sql`sessions`,
  rollupChanges: sql`rollup_changes`,
  rollups: {
    sessions_daily: sql`sessions_daily`,
    sessions_monthly: sql`sessions_monthly`,
    pageviews_daily: sql`pageviews_daily`,
    pageviews_monthly: sql`pageviews_monthly`,
    events_daily: sql`events_daily`,
    events_monthly: sql`events_monthly`,
    users_daily: sql`users_daily`,
    users_monthly: sql`users_monthly`,
  },
}

/** Tables of the same form under other names. */
export const tablesAt = (prefix: string): RollupTables => ({
  prefix,
  eventChanges: identifier(`${prefix}event_changes`),
  sessions: identifier(`${prefix}session_changes`),
  rollupChanges: identifier(`${prefix}rollup_changes`),
  rollups: {
    sessions_daily: identifier(`${prefix}sessions_daily`),
    sessions_monthly: identifier(`${prefix}sessions_monthly`),
    pageviews_daily: identifier(`${prefix}pageviews_daily`),
    pageviews_monthly: identifier(`${prefix}pageviews_monthly`),
    events_daily: identifier(`${prefix}events_daily`),
    events_monthly: identifier(`${prefix}events_monthly`),
    users_daily: identifier(`${prefix}users_daily`),
    users_monthly: identifier(`${prefix}users_monthly`),
  },
})

/** What facts are computed into once more, to be compared with what is there, or to take its place. */
export const SHADOW: RollupTables = {
  ...tablesAt('draft_'),
  // REPLACE PARTITION takes the name of its source as text alone.
  rollups: {
    sessions_daily: sql`draft_sessions_daily`,
    sessions_monthly: sql`draft_sessions_monthly`,
    pageviews_daily: sql`draft_pageviews_daily`,
    pageviews_monthly: sql`draft_pageviews_monthly`,
    events_daily: sql`draft_events_daily`,
    events_monthly: sql`draft_events_monthly`,
    users_daily: sql`draft_users_daily`,
    users_monthly: sql`draft_users_monthly`,
  },
}
