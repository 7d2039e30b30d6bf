/** The tables that a load stages its results in. Only the load itself reads them. */
import { identifier, type Sql } from '../../../clickhouse/sql.js'

/**
 * The suffix of each table's name; the step that creates a table documents its columns.
 *
 * The names and columns of these tables stay as they are: a load that an earlier release staged is published
 * by this one. It cannot be staged again, because part of it may be published already.
 */
const SUFFIXES = {
  rows: 'rows',
  places: 'places',
  excludedEvents: 'untracked',
  kept: 'kept',
  users: 'users',
  nearbySessions: 'near',
  runs: 'items',
  sessions: 'sessions',
  previousStates: 'past',
  movedEvents: 'moved',
  staleRollupUsers: 'lost',
}
export type LoadTables = Readonly<Record<keyof typeof SUFFIXES, Sql>>

/** The prefix of the tables of all loads. */
export const LOAD_PREFIX = 'load_'

/**
 * Names the tables of a load. The names contain its number: a loader that pauses until its lease expires finds that its
 * tables no longer exist, and never touches those of the next load.
 */
export const nameLoadTables = (load: number): LoadTables => nameTables(`${LOAD_PREFIX}${load}_`)

/** Names the tables that start with `prefix`. */
export const nameTables = (prefix: string): LoadTables =>
  Object.fromEntries(
    Object.entries(SUFFIXES).map(([table, suffix]) => [table, identifier(`${prefix}${suffix}`)]),
  ) as unknown as LoadTables
