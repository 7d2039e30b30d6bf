/** The dimensions: what events are grouped and filtered by, and where each is stored. */
import type { Dimension } from '../../api.js'
import { sql, type Sql } from '../../clickhouse/sql.js'
import type { Family } from './relations.js'

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
  /** What its value must satisfy to make a group. Absent: any does, the empty one included. */
  readonly groups?: (value: Sql) => Sql
  /** The rollups that count by it. Absent: none does, and facts answer. */
  readonly rollup?: Family
  /**
   * Counted by month alone: it has so many values, or so little to tell, that days of it would take more
   * room than they save time. The figures are in bench/README.md.
   */
  readonly isMonthlyOnly?: boolean
  /** Whether it may have so many values that users are counted only for those that can be asked for. */
  readonly isWide?: boolean
  /** The field of an incoming event that a session attribute is read from. Absent: no session attribute. */
  readonly field?: string
}

const sessionAttribute = (field: string, column: Sql): DimensionRow => ({
  event: column,
  session: column,
  field,
  rollup: 'sessions',
})
const wide = (row: DimensionRow): DimensionRow => ({ ...row, isWide: true })
const monthlyOnly = (row: DimensionRow): DimensionRow => ({ ...row, isMonthlyOnly: true })

const notEmpty = (value: Sql): Sql => sql`notEmpty(${value})`

export const DIMENSIONS: Readonly<Record<DimensionName, DimensionRow>> = {
  country: sessionAttribute('country', sql`country`),
  city: monthlyOnly(wide(sessionAttribute('city', sql`city`))),
  browser: sessionAttribute('browser', sql`browser`),
  device_type: sessionAttribute('device_type', sql`device_type`),
  os: sessionAttribute('os', sql`os`),
  referrer: wide(sessionAttribute('referrer', sql`referrer`)),
  // Nothing can be grouped by it.
  referrer_url: { event: sql`referrer_url`, session: sql`referrer_url`, field: 'referrer_url' },
  referrer_type: sessionAttribute('referrer_type', sql`referrer_type`),
  utm_source: monthlyOnly(sessionAttribute('utm_source', sql`utm_source`)),
  utm_medium: monthlyOnly(sessionAttribute('utm_medium', sql`utm_medium`)),
  utm_campaign: monthlyOnly(wide(sessionAttribute('utm_campaign', sql`utm_campaign`))),
  utm_content: monthlyOnly(wide(sessionAttribute('utm_content', sql`utm_content`))),
  utm_term: monthlyOnly(wide(sessionAttribute('utm_term', sql`utm_term`))),
  'page:origin': {
    event: sql`origin`,
    entry: sql`entry_origin`,
    groups: notEmpty,
    rollup: 'pageviews',
  },
  'page:path': wide({
    event: sql`path`,
    entry: sql`entry_path`,
    groups: notEmpty,
    rollup: 'pageviews',
  }),
  'page:hash': { event: sql`hash` },
  'event:name': {
    event: sql`name`,
    groups: (value) => sql`${value} != 'pageview'`,
    rollup: 'events',
  },
}
