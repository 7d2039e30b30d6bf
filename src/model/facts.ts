/** The definitions of a pageview, a custom event, a pageleave, a visit, a bounce and a visit's duration, as SQL over the facts. */
import { sql, type Sql } from '../clickhouse/sql.js'

/** The name of pageviews. */
export const PAGEVIEW = sql`'pageview'`

/** Whether an event of this name is a pageview; any other event is a custom event. */
export const isPageview = (name: Sql): Sql => sql`${name} = ${PAGEVIEW}`
export const isCustomEvent = (name: Sql): Sql => sql`${name} != ${PAGEVIEW}`

/** Whether an event of this name is a pageleave: what the end of a pageview measured. It is a custom event, but no activity of a visitor. */
export const isPageleave = (name: Sql): Sql => sql`${name} = 'pageleave'`

/** Whether an event of this name is a custom event that shows what a visitor did. */
export const isInteraction = (name: Sql): Sql =>
  sql`(${isCustomEvent(name)} AND NOT ${isPageleave(name)})`

/** Whether a row of `sessions` is a visit: a session without a pageview is not. */
export const IS_VISIT = sql`pageviews > 0`

/** The least moment of an exit page: version 0.1.0 takes 0 for that of one that is not known. */
export const LEAST_EXIT_AT = sql`toDateTime64('1970-01-01 00:00:00.001', 3, 'UTC')`

/** Whether a visit is a bounce: one pageview and no other event but pageleaves. */
const IS_BOUNCE = sql`pageviews = 1 AND events = pageleaves`

/** The time from the first to the last event of a session, in milliseconds. */
const DURATION_MS = sql`toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at)`

/**
 * The measures of visits, as sums over rows of `sessions`. When a session changes, its previous state is written again
 * with sign -1 and its new state with sign 1, so only sums over `sign` count it once. `duration` is in milliseconds.
 */
export const VISIT_AGGREGATES = {
  visits: sql`sum(toInt64(sign))`,
  bounces: sql`sumIf(toInt64(sign), ${IS_BOUNCE})`,
  duration: sql`sum(sign * (${DURATION_MS}))`,
} as const
