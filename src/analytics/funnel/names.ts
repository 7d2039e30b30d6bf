/** The names of the columns that a funnel has for each step. Steps are numbered from 1. */
import { numberedName, type Sql } from '../../clickhouse/sql.js'

/** The events that match any step. */
export interface MatchingEvents {
  /** A WITH clause: `moment` (milliseconds, positive) and `nameMatches` of every step. */
  readonly names: Sql
  /** The events, as a table of FROM with its WHERE. */
  readonly rows: Sql
}

/** Whether an event matches the step. */
export const nameMatches = (step: number): Sql => numberedName('step', step, 'matches')
/** How many milliseconds after the step before it is completed; 0 if it is not. The first step has none. */
export const nameGap = (step: number): Sql => numberedName('step', step, 'gap')

/** Lists the steps after the first. */
export const listLaterSteps = (count: number): readonly number[] =>
  Array.from({ length: count - 1 }, (_, i) => i + 2)
