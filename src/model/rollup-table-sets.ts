/** Names the tables through which changes reach the rollups: the live set of tables, and other sets of the same form. */
import { declaredName, identifier, numberedName, sql, type Sql } from '../clickhouse/sql.js'
import { buildRecord } from '../lib/records.js'
import { ROLLUP_NAMES, type RollupName } from './rollups.js'

/** Where changes are inserted, and the rollups that the views between them fill. */
export interface RollupTables {
  /** The prefix of the names of the tables and of the views between them. */
  readonly prefix: string
  /** One row per event, with `sign`. The table passes rows to the views and stores none. */
  readonly eventChanges: Sql
  /** One row per state of a session, with `sign`. */
  readonly sessions: Sql
  /** One row per day and group. The table passes rows to the views and stores none. */
  readonly rollupChanges: Sql
  readonly rollups: Readonly<Record<RollupName, Sql>>
}

/** The tables that the loader fills, and queries read. */
export const LIVE: RollupTables = {
  prefix: '',
  eventChanges: sql`event_changes`,
  sessions: sql`sessions`,
  rollupChanges: sql`rollup_changes`,
  rollups: buildRecord(ROLLUP_NAMES, (name) => declaredName(name)),
}

/** Names a set of tables with a prefix, which may be known only at run time. */
export const nameTables = (prefix: string): RollupTables => ({
  prefix,
  eventChanges: identifier(`${prefix}event_changes`),
  sessions: identifier(`${prefix}session_changes`),
  rollupChanges: identifier(`${prefix}rollup_changes`),
  rollups: buildRecord(ROLLUP_NAMES, (name) => identifier(`${prefix}${name}`)),
})

/** The prefix of the shadow tables, as a regular expression. */
export const SHADOW_PREFIX = 'draft_[0-9]+_'

/** Shadow tables, and what they are computed from: the facts of one month at a moment, and their changes since. */
export interface ShadowTables extends RollupTables {
  /** The facts at that moment. */
  readonly snapshot: Facts
  /** The rows that were inserted since: into `event_changes`, and into `sessions`. */
  readonly changes: Facts
  /** Users that left groups since. */
  readonly staleUsers: Sql
  /** The rows that stay of a partition of a live rollup. */
  readonly otherRows: Sql
  /** The live rollups, as they were when the shadow tables were complete. */
  readonly stored: RollupTables['rollups']
}

/** A table of events and one of sessions. */
export interface Facts {
  readonly events: Sql
  readonly sessions: Sql
}

/** The names of the copies of the live rollups, without the prefix. */
export const STORED_TABLES: readonly string[] = ROLLUP_NAMES.map((name) => `stored_${name}`)

/** The names of the tables of recorded changes, without the prefix. */
export const CHANGE_TABLES = ['new_events', 'new_sessions'] as const

/** The names of the tables that only shadow tables have, without the prefix. */
export const SHADOW_ONLY_TABLES: readonly string[] = [
  ...['snapshot_events', 'snapshot_sessions', ...CHANGE_TABLES],
  ...['stale_users', 'other_rows'],
  ...STORED_TABLES,
]

/**
 * Names shadow tables: the rollups are computed into them again, to be compared with the live tables or swapped in.
 *
 * @param generation of the loader lease. A process that was suspended until another one took the lease then finds that
 *   its tables are gone, and never swaps in those of the other.
 */
export function nameShadowTables(generation: number): ShadowTables {
  // ATTACH PARTITION and REPLACE PARTITION do not accept a query parameter as the name of their source.
  return {
    ...nameTables(`draft_${generation}_`),
    rollups: buildRecord(ROLLUP_NAMES, (name) => numberedName('draft', generation, name)),
    snapshot: {
      events: numberedName('draft', generation, 'snapshot_events'),
      sessions: numberedName('draft', generation, 'snapshot_sessions'),
    },
    changes: {
      events: numberedName('draft', generation, CHANGE_TABLES[0]),
      sessions: numberedName('draft', generation, CHANGE_TABLES[1]),
    },
    staleUsers: numberedName('draft', generation, 'stale_users'),
    otherRows: numberedName('draft', generation, 'other_rows'),
    stored: buildRecord(ROLLUP_NAMES, (name) =>
      numberedName('draft', generation, `stored_${name}`),
    ),
  }
}

/** The names of the tables of a set, without the prefix. */
export const SET_TABLES: readonly string[] = [
  'event_changes',
  'session_changes',
  'rollup_changes',
  ...ROLLUP_NAMES,
]
