/** The dimensions: what events are grouped and filtered by, and where each is stored. */
import type { Dimension } from '../../api.js'
import { sql, type Sql } from '../../clickhouse/sql.js'

/** What can be grouped by, and two that can only be filtered by. */
export type DimensionName = Dimension | 'page:hash' | 'referrer_url'

export interface DimensionRow {
  /** Its column of `events`. */
  readonly event: Sql
  /**
   * Its column of `sessions`, where it is one value for the whole session. Absent where a session's
   * events may differ in it: sessions are then filtered through their events.
   */
  readonly session?: Sql
  /** The column of `sessions` that visits are grouped by where `session` is absent. Absent: not at all. */
  readonly entry?: Sql
  /** What an event must satisfy to make a group. Absent: every event does, the empty value included. */
  readonly groups?: Sql
  /** The field of an incoming event that a session attribute is read from. Absent: no session attribute. */
  readonly field?: string
}

const sessionAttribute = (field: string, column: Sql): DimensionRow => ({
  event: column,
  session: column,
  field,
})

export const DIMENSIONS: Readonly<Record<DimensionName, DimensionRow>> = {
  country: sessionAttribute('country', sql`country`),
  city: sessionAttribute('city', sql`city`),
  browser: sessionAttribute('browser', sql`browser`),
  device_type: sessionAttribute('device_type', sql`device_type`),
  os: sessionAttribute('os', sql`os`),
  referrer: sessionAttribute('referrer', sql`referrer`),
  referrer_url: sessionAttribute('referrer_url', sql`referrer_url`),
  referrer_type: sessionAttribute('referrer_type', sql`referrer_type`),
  utm_source: sessionAttribute('utm_source', sql`utm_source`),
  utm_medium: sessionAttribute('utm_medium', sql`utm_medium`),
  utm_campaign: sessionAttribute('utm_campaign', sql`utm_campaign`),
  utm_content: sessionAttribute('utm_content', sql`utm_content`),
  utm_term: sessionAttribute('utm_term', sql`utm_term`),
  'page:origin': {
    event: sql`origin`,
    entry: sql`entry_origin`,
    groups: sql`notEmpty(origin)`,
  },
  'page:path': { event: sql`path`, entry: sql`entry_path`, groups: sql`notEmpty(path)` },
  'page:hash': { event: sql`hash` },
  'event:name': { event: sql`name`, groups: sql`name != 'pageview'` },
}
