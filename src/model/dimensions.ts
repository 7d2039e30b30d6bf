/** The dimensions: what events are grouped and filtered by, and where each is stored. */
import type { Dimension } from '../contract/api.js'
import { sql, type Sql } from '../clickhouse/sql.js'
import type { RollupSubject } from './relations.js'

/** What can be grouped by, and two that can only be filtered by. */
export type DimensionName = Dimension | 'page:hash' | 'referrer_url'

export interface DimensionRow {
  /** Its column of `events`. */
  readonly eventColumn: Sql
  /**
   * Its column of `sessions`, where it is one value for the whole session. Absent where a session's
   * events may differ in it: sessions are then filtered through their events.
   */
  readonly sessionColumn?: Sql
  /** The column of `sessions` that visits are grouped by where `session` is absent. Absent: not at all. */
  readonly entryColumn?: Sql
  /** What its value must satisfy to make a group. Absent: any does, the empty one included. */
  readonly groupFilter?: (value: Sql) => Sql
  /** The rollups that count by it. Absent: none does, and facts answer. */
  readonly rollupSubject?: RollupSubject
  /**
   * Whether rollups count by it for each day. Absent: for each month alone, as its days would take more
   * room than they save time; figures are in bench/README.md.
   */
  readonly hasDailyRollup?: boolean
  /** Whether it may have so many values that users are counted only for those that can be asked for. */
  readonly highCardinality?: boolean
  /** The field of an incoming event that a session attribute is read from. Absent: no session attribute. */
  readonly eventField?: string
}

const sessionAttribute = (field: string, column: Sql): DimensionRow => ({
  eventColumn: column,
  sessionColumn: column,
  eventField: field,
  rollupSubject: 'sessions',
})
const daily = (row: DimensionRow): DimensionRow => ({ ...row, hasDailyRollup: true })
const wide = (row: DimensionRow): DimensionRow => ({ ...row, highCardinality: true })

const notEmpty = (value: Sql): Sql => sql`notEmpty(${value})`

export const DIMENSIONS: Readonly<Record<DimensionName, DimensionRow>> = {
  country: daily(sessionAttribute('country', sql`country`)),
  city: wide(sessionAttribute('city', sql`city`)),
  browser: daily(sessionAttribute('browser', sql`browser`)),
  device_type: daily(sessionAttribute('device_type', sql`device_type`)),
  os: daily(sessionAttribute('os', sql`os`)),
  referrer: wide(sessionAttribute('referrer', sql`referrer`)),
  // Nothing can be grouped by it.
  referrer_url: {
    eventColumn: sql`referrer_url`,
    sessionColumn: sql`referrer_url`,
    eventField: 'referrer_url',
  },
  referrer_type: daily(sessionAttribute('referrer_type', sql`referrer_type`)),
  utm_source: sessionAttribute('utm_source', sql`utm_source`),
  utm_medium: sessionAttribute('utm_medium', sql`utm_medium`),
  utm_campaign: wide(sessionAttribute('utm_campaign', sql`utm_campaign`)),
  utm_content: wide(sessionAttribute('utm_content', sql`utm_content`)),
  utm_term: wide(sessionAttribute('utm_term', sql`utm_term`)),
  'page:origin': {
    eventColumn: sql`origin`,
    entryColumn: sql`entry_origin`,
    groupFilter: notEmpty,
    rollupSubject: 'pageviews',
    hasDailyRollup: true,
  },
  'page:path': wide({
    eventColumn: sql`path`,
    entryColumn: sql`entry_path`,
    groupFilter: notEmpty,
    rollupSubject: 'pageviews',
    hasDailyRollup: true,
  }),
  'page:hash': { eventColumn: sql`hash` },
  'event:name': {
    eventColumn: sql`name`,
    groupFilter: (value) => sql`${value} != 'pageview'`,
    rollupSubject: 'events',
    hasDailyRollup: true,
  },
}
