/** The tables that changes to the rollups flow through: those that are live, and others of the same form. */
import { declaredName, identifier, sql, type Sql } from '../clickhouse/sql.js'
import { buildRecord } from '../lib/records.js'
import { ROLLUP_NAMES, type RollupName } from './rollups.js'

/** Where changes are inserted, and the rollups that the views between them fill. */
export interface RollupTables {
  /** What the names of the tables, and of the views between them, begin with. */
  readonly prefix: string
  /** One row per event, with `sign`. Stores nothing. */
  readonly eventChanges: Sql
  /** One row per state of a session, with `sign`. */
  readonly sessions: Sql
  /** One row per day and group. Stores nothing. */
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

/** Tables of the same form whose names begin with a prefix that may be known at run time alone. */
export const nameTables = (prefix: string): RollupTables => ({
  prefix,
  eventChanges: identifier(`${prefix}event_changes`),
  sessions: identifier(`${prefix}session_changes`),
  rollupChanges: identifier(`${prefix}rollup_changes`),
  rollups: buildRecord(ROLLUP_NAMES, (name) => identifier(`${prefix}${name}`)),
})

/** The shadow tables: facts are rolled up into them once more, to be compared with the live tables or swapped in. */
export const SHADOW: RollupTables = {
  ...nameTables('draft_'),
  // REPLACE PARTITION takes the name of its source as text alone.
  rollups: buildRecord(ROLLUP_NAMES, (name) => declaredName(`draft_${name}`)),
}
