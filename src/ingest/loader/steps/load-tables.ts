/** The tables a load is computed into, of which nobody but the load reads. */
import { identifier, type Sql } from '../../../clickhouse/sql.js'

/** What each holds is told where it is made. */
export interface LoadTables {
  readonly rows: Sql
  readonly places: Sql
  readonly excludedEvents: Sql
  readonly kept: Sql
  readonly users: Sql
  readonly nearbySessions: Sql
  readonly runs: Sql
  readonly sessions: Sql
  readonly previousStates: Sql
  readonly movedEvents: Sql
  readonly staleRollupUsers: Sql
}

/**
 * The tables of a load. Its number is in their names: a loader that slept through the end of its lease
 * finds its own tables gone, and never touches those of the next.
 */
export const nameLoadTables = (load: number): LoadTables => nameTables(`${LOAD_PREFIX}${load}_`)

/** What the names of the tables of all loads begin with. */
export const LOAD_PREFIX = 'load_'

/** The tables whose names begin so. */
export const nameTables = (prefix: string): LoadTables => ({
  rows: identifier(`${prefix}rows`),
  places: identifier(`${prefix}places`),
  excludedEvents: identifier(`${prefix}untracked`),
  kept: identifier(`${prefix}kept`),
  users: identifier(`${prefix}users`),
  nearbySessions: identifier(`${prefix}near`),
  runs: identifier(`${prefix}items`),
  sessions: identifier(`${prefix}sessions`),
  previousStates: identifier(`${prefix}past`),
  movedEvents: identifier(`${prefix}moved`),
  staleRollupUsers: identifier(`${prefix}lost`),
})
