/** The names of the columns that a funnel has for each step. Steps are numbered from 1. */
import { numberedName, type Sql } from '../../clickhouse/sql.js'

/** Whether an event matches the step. */
export const nameMatches = (step: number): Sql => numberedName('step', step, 'matches')
/** How many milliseconds after the step before it is completed; 0 if it is not. The first step has none. */
export const nameGap = (step: number): Sql => numberedName('step', step, 'gap')

/** Lists the steps after the first. */
export const listLaterSteps = (count: number): readonly number[] =>
  Array.from({ length: count - 1 }, (_, i) => i + 2)
