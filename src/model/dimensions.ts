/** The dimensions: what events are grouped and filtered by, and where each is stored. */
import type { FilterField } from '../contract/api.js'
import { declaredName, sql, type Sql } from '../clickhouse/sql.js'
import { indexByName } from '../lib/records.js'
import { writeChannel, writeOneOfChannels } from './channels.js'
import { isCustomEvent } from './facts.js'
import type { RollupSubject } from './rollups.js'

/** The dimensions of the contract, which group and filter, and two that only filter. */
export type DimensionName = FilterField

export interface DimensionRow {
  readonly name: DimensionName
  /**
   * Its column in `events`, or what computes it from several. Absent where only `sessions` has one: events are then read together
   * with their sessions.
   */
  readonly eventColumn?: Sql
  /**
   * The same in `sessions`, where all events of a session have the same value. Absent where they may differ:
   * sessions are then filtered through their events.
   */
  readonly sessionColumn?: Sql
  /** Computes a session attribute without a column of its own. `read` writes how a column that it follows from is read. */
  readonly compute?: (read: (column: Sql) => Sql) => Sql
  /** Writes the condition on rows of facts that it is one of some values, where that is cheaper than to compute it. */
  readonly isOneOf?: (values: readonly string[]) => Sql
  /** The column in `sessions` that groups visits where `sessionColumn` is absent. Absent: visits cannot be grouped. */
  readonly entryColumn?: Sql
  /** Builds the condition under which a value makes a group. Absent: every value does, including the empty one. */
  readonly groupFilter?: (value: Sql) => Sql
  /** The rollups that have its values as groups. Absent: no rollup has them, and queries read the facts. */
  readonly rollupSubject?: RollupSubject
  /**
   * Whether daily rollups have its groups. Absent: only monthly rollups have them, because the room that daily rows
   * take is not worth the time that they save; see the figures in bench/figures/queries.md.
   */
  readonly hasDailyRollup?: boolean
  /** Whether it may have very many values. Users are then counted only for groups that can be on the page. */
  readonly highCardinality?: boolean
  /** The field of an incoming event that a session attribute is read from. Absent for other dimensions. */
  readonly eventField?: string
}

type SessionAttribute = Exclude<DimensionName, 'channel' | `${'page' | 'event'}:${string}`>

/** Defines a session attribute that rollups do not count by: its columns and its field have its name. */
const defineUncounted = <Name extends SessionAttribute>(name: Name) => {
  const column = declaredName<SessionAttribute>(name)
  return { name, eventColumn: column, sessionColumn: column, eventField: name } as const
}

/** Defines a session attribute that rollups count by. */
const defineAttribute = <Name extends SessionAttribute>(name: Name) =>
  ({ ...defineUncounted(name), rollupSubject: 'sessions' }) as const

/** Defines a session attribute that is computed from others. */
const defineComputed = <Name extends DimensionName>(
  name: Name,
  compute: (read: (column: Sql) => Sql) => Sql,
) => {
  const value = compute((column) => column)
  return { name, eventColumn: value, sessionColumn: value, compute } as const
}

const notEmpty = (value: Sql): Sql => sql`notEmpty(${value})`

const ROWS = [
  { ...defineAttribute('country'), hasDailyRollup: true },
  { ...defineAttribute('city'), highCardinality: true },
  { ...defineAttribute('browser'), hasDailyRollup: true },
  { ...defineAttribute('device_type'), hasDailyRollup: true },
  { ...defineAttribute('os'), hasDailyRollup: true },
  { ...defineAttribute('referrer'), highCardinality: true },
  // Only filters.
  defineUncounted('referrer_url'),
  { ...defineAttribute('referrer_type'), hasDailyRollup: true },
  defineAttribute('utm_source'),
  defineAttribute('utm_medium'),
  { ...defineAttribute('utm_campaign'), highCardinality: true },
  { ...defineAttribute('utm_content'), highCardinality: true },
  { ...defineAttribute('utm_term'), highCardinality: true },
  {
    name: 'page:origin',
    eventColumn: sql`origin`,
    entryColumn: sql`entry_origin`,
    groupFilter: notEmpty,
    rollupSubject: 'pageviews',
    hasDailyRollup: true,
  },
  {
    name: 'page:path',
    eventColumn: sql`path`,
    entryColumn: sql`entry_path`,
    groupFilter: notEmpty,
    rollupSubject: 'pageviews',
    hasDailyRollup: true,
    highCardinality: true,
  },
  // Sessions are quick to read, so no rollup counts these.
  { ...defineUncounted('region'), highCardinality: true },
  defineUncounted('language'),
  // It has about ten values, and takes long to compute.
  {
    ...defineComputed('channel', writeChannel),
    isOneOf: writeOneOfChannels,
    rollupSubject: 'sessions',
    hasDailyRollup: true,
  },
  // A visit that goes on leaves on another page with each pageview. So rollups would have to take its user out of a bitmap and all of
  // its events out of sums with each load, and have none of these.
  {
    name: 'page:entry',
    sessionColumn: sql`entry_path`,
    groupFilter: notEmpty,
    highCardinality: true,
  },
  {
    name: 'page:exit',
    sessionColumn: sql`exit_path`,
    groupFilter: notEmpty,
    highCardinality: true,
  },
  // Only filters.
  { name: 'page:hash', eventColumn: sql`hash` },
  {
    name: 'event:name',
    eventColumn: sql`name`,
    groupFilter: isCustomEvent,
    rollupSubject: 'events',
    hasDailyRollup: true,
  },
] as const satisfies readonly DimensionRow[]

/**
 * The dimensions in the order in which the views of the rollups number them: another order changes the text of the
 * views, and every store then rebuilds its rollups.
 */
export const DIMENSION_ROWS: readonly DimensionRow[] = ROWS

export const DIMENSIONS: Readonly<Record<DimensionName, DimensionRow>> = indexByName(ROWS)

/** Whether a text names a dimension. An event property (`event:prop:…`) is not a dimension. */
export const isDimensionName = (text: string): text is DimensionName =>
  Object.hasOwn(DIMENSIONS, text)
