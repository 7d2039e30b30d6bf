/** The tables a load is computed into, of which nobody but the load reads. */
import { identifier, type Sql } from '../../clickhouse/sql.js'

/** What each holds is told where it is made. */
export interface LoadTables {
  readonly rows: Sql
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
export const tablesOf = (load: number): LoadTables => ({
  rows: identifier(`load_${load}_rows`),
  kept: identifier(`load_${load}_kept`),
  users: identifier(`load_${load}_users`),
  near: identifier(`load_${load}_near`),
  items: identifier(`load_${load}_items`),
  sessions: identifier(`load_${load}_sessions`),
  past: identifier(`load_${load}_past`),
  moved: identifier(`load_${load}_moved`),
  lost: identifier(`load_${load}_lost`),
})
