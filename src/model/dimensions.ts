/** The dimensions: what events are grouped and filtered by, and where each is stored. */
import type { Dimension } from '../contract/api.js'
import { declaredName, sql, type Sql } from '../clickhouse/sql.js'
import { isCustomEvent } from './facts.js'
import type { RollupSubject } from './rollups.js'

/** The dimensions of the contract, which group and filter, and two that only filter. */
export type DimensionName = Dimension | 'page:hash' | 'referrer_url'

export interface DimensionRow {
  /** Its column in `events`. */
  readonly eventColumn: Sql
  /**
   * Its column in `sessions`, where all events of a session have the same value. Absent where they may differ:
   * sessions are then filtered through their events.
   */
  readonly sessionColumn?: Sql
  /** The column in `sessions` that visits are grouped by where `sessionColumn` is absent. Absent: they cannot be. */
  readonly entryColumn?: Sql
  /** What a value must satisfy to make a group. Absent: every value does, the empty one included. */
  readonly groupFilter?: (value: Sql) => Sql
  /** The rollups that have its values as groups. Absent: none, queries read the facts. */
  readonly rollupSubject?: RollupSubject
  /**
   * Whether daily rollups have its groups. Absent: only monthly ones, because its days would take more
   * room than they save time; see the figures in bench/README.md.
   */
  readonly hasDailyRollup?: boolean
  /** Whether it may have very many values: users are then counted only for groups that can be on the page. */
  readonly highCardinality?: boolean
  /** The field of an incoming event that a session attribute is read from. Absent: it is no session attribute. */
  readonly eventField?: string
}

type SessionAttribute = Exclude<DimensionName, `${'page' | 'event'}:${string}`>

/** A session attribute: its columns and its field have its name. */
const sessionAttribute = (name: SessionAttribute): DimensionRow => ({
  eventColumn: declaredName(name),
  sessionColumn: declaredName(name),
  eventField: name,
  rollupSubject: 'sessions',
})
const withDailyRollup = (row: DimensionRow): DimensionRow => ({ ...row, hasDailyRollup: true })
const withManyValues = (row: DimensionRow): DimensionRow => ({ ...row, highCardinality: true })

const notEmpty = (value: Sql): Sql => sql`notEmpty(${value})`

// The views of the rollups number groups in this order: another order is another definition of the views.
export const DIMENSIONS: Readonly<Record<DimensionName, DimensionRow>> = {
  country: withDailyRollup(sessionAttribute('country')),
  city: withManyValues(sessionAttribute('city')),
  browser: withDailyRollup(sessionAttribute('browser')),
  device_type: withDailyRollup(sessionAttribute('device_type')),
  os: withDailyRollup(sessionAttribute('os')),
  referrer: withManyValues(sessionAttribute('referrer')),
  // Only filters.
  referrer_url: {
    eventColumn: sql`referrer_url`,
    sessionColumn: sql`referrer_url`,
    eventField: 'referrer_url',
  },
  referrer_type: withDailyRollup(sessionAttribute('referrer_type')),
  utm_source: sessionAttribute('utm_source'),
  utm_medium: sessionAttribute('utm_medium'),
  utm_campaign: withManyValues(sessionAttribute('utm_campaign')),
  utm_content: withManyValues(sessionAttribute('utm_content')),
  utm_term: withManyValues(sessionAttribute('utm_term')),
  'page:origin': {
    eventColumn: sql`origin`,
    entryColumn: sql`entry_origin`,
    groupFilter: notEmpty,
    rollupSubject: 'pageviews',
    hasDailyRollup: true,
  },
  'page:path': withManyValues({
    eventColumn: sql`path`,
    entryColumn: sql`entry_path`,
    groupFilter: notEmpty,
    rollupSubject: 'pageviews',
    hasDailyRollup: true,
  }),
  // Only filters.
  'page:hash': { eventColumn: sql`hash` },
  'event:name': {
    eventColumn: sql`name`,
    groupFilter: isCustomEvent,
    rollupSubject: 'events',
    hasDailyRollup: true,
  },
}

/** Whether a text is the name of a dimension. Names of properties, and other texts of callers, are not. */
export const isDimensionName = (text: string): text is DimensionName =>
  Object.hasOwn(DIMENSIONS, text)

/** What the names of event properties have in front of them where they are grouped by, as in `event:prop:plan`. */
export const PROPERTY_PREFIX = 'event:prop:'
