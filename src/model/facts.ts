/** The definitions of a pageview, a custom event, a visit, a bounce and a visit's duration, as SQL over the facts. */
import { sql, type Sql } from '../clickhouse/sql.js'

/** The name of pageviews. */
export const PAGEVIEW = sql`'pageview'`

/** Whether an event of this name is a pageview; any other event is a custom event. */
export const isPageview = (name: Sql): Sql => sql`${name} = ${PAGEVIEW}`
export const isCustomEvent = (name: Sql): Sql => sql`${name} != ${PAGEVIEW}`

/** Rows of `sessions` that are visits: a session without a pageview is none. */
export const IS_VISIT = sql`pageviews > 0`

/** Visits of one pageview and nothing else. */
const IS_BOUNCE = sql`pageviews = 1 AND events = 0`

/** From the first to the last event of a session. */
const DURATION_MS = sql`toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at)`

/**
 * What rows of `sessions` measure. A session that changes is written once more with sign -1 as it was, and with sign 1
 * as it is: only sums over `sign` count it once. `duration` is in milliseconds.
 */
export const VISIT_AGGREGATES = {
  visits: sql`sum(toInt64(sign))`,
  bounces: sql`sumIf(toInt64(sign), ${IS_BOUNCE})`,
  duration: sql`sum(sign * (${DURATION_MS}))`,
} as const
