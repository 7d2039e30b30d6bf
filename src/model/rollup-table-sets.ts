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

/** The prefix of the shadow tables, as a regular expression. Earlier releases wrote no number. */
export const SHADOW_PREFIX = 'draft_([0-9]+_)?'

/**
 * Names shadow tables: the rollups are computed into them again, to be compared with the live tables or swapped in.
 *
 * @param generation of the loader lease. A process that was suspended until another one took the lease then finds that
 *   its tables are gone, and never swaps in those of the other.
 */
export const nameShadowTables = (generation: number): RollupTables => ({
  ...nameTables(`draft_${generation}_`),
  // REPLACE PARTITION does not accept a query parameter as the name of its source.
  rollups: buildRecord(ROLLUP_NAMES, (name) => numberedName('draft', generation, name)),
})

/** The names of the tables of a set, without the prefix. */
export const SET_TABLES: readonly string[] = [
  'event_changes',
  'session_changes',
  'rollup_changes',
  ...ROLLUP_NAMES,
]
