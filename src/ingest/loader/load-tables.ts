/** The tables a load is computed into, of which nobody but the load reads. */
import { identifier, type Sql } from '../../clickhouse/sql.js'

/** What each holds is told where it is made. */
export interface LoadTables {
  readonly rows: Sql
  readonly places: Sql
  readonly untracked: Sql
  readonly kept: Sql
  readonly users: Sql
  readonly near: Sql
  readonly items: Sql
  readonly sessions: Sql
  readonly past: Sql
  readonly moved: Sql
  readonly lost: Sql
}

/**
 * The tables of a load. Its number is in their names: a loader that slept through the end of its lease
 * finds its own tables gone, and never touches those of the next.
 */
export const tablesOf = (load: number): LoadTables => tablesAt(`${LOADS}${load}_`)

/** What the names of the tables of all loads begin with. */
export const LOADS = 'load_'

/** The tables whose names begin so. */
export const tablesAt = (prefix: string): LoadTables => ({
  rows: identifier(`${prefix}rows`),
  places: identifier(`${prefix}places`),
  untracked: identifier(`${prefix}untracked`),
  kept: identifier(`${prefix}kept`),
  users: identifier(`${prefix}users`),
  near: identifier(`${prefix}near`),
  items: identifier(`${prefix}items`),
  sessions: identifier(`${prefix}sessions`),
  past: identifier(`${prefix}past`),
  moved: identifier(`${prefix}moved`),
  lost: identifier(`${prefix}lost`),
})
