/** Writes the conversions of goals that rollups have: as groups of their own, which are joined to those of the query. */
import { join, numberedName, sql, type Sql } from '../../clickhouse/sql.js'
import { getGoalColumn, type GoalMeasure } from '../../model/goals.js'
import { MEASURE_COLUMNS } from '../../model/measures.js'
import type { ConversionsPlan } from '../plan/plan.js'
import type { StatementContext } from './rows.js'
import { GROUP_EVENTS, listKeys } from './select.js'
import { createWhereWriter } from './where.js'

/** The name of the table of FROM that has the conversions of a goal. */
export const nameConversions = (goal: number): Sql => numberedName('goal', goal, 'groups')

/** What counts a measure of a goal in the groups of its conversions; absent for all users, who are those of the groups of the query. */
const COUNTED: Readonly<Partial<Record<GoalMeasure['state'], Sql>>> = {
  conversions: GROUP_EVENTS,
  converted_users: MEASURE_COLUMNS.users,
}

/** Writes the columns of the measures of a goal, in groups of the query that are joined to those of its conversions. */
export const selectConversions = ({ goal, measures }: ConversionsPlan): readonly Sql[] =>
  measures.map((measure) => {
    const column = getGoalColumn(measure)
    return COUNTED[measure.state] === undefined
      ? sql`toInt64(measured.${MEASURE_COLUMNS.users}) AS ${column}`
      : sql`${nameConversions(goal)}.${column} AS ${column}`
  })

/**
 * Writes a SELECT of the conversions of a goal: the keys of the groups that have some, and a column for each measure.
 *
 * @param writeGroups writes the groups of the plan of the conversions
 */
export function writeConversions(
  context: StatementContext,
  { measures, plan: { query } }: ConversionsPlan,
  writeGroups: (context: StatementContext) => Sql,
): Sql {
  const own = { ...context, query, where: createWhereWriter(query.predicate), goals: [] }
  const columns = measures.flatMap((measure) => {
    const counted = COUNTED[measure.state]
    return counted === undefined ? [] : [sql`toInt64(${counted}) AS ${getGoalColumn(measure)}`]
  })
  return sql`SELECT ${join([...listKeys(query), ...columns])} FROM (${writeGroups(own)})`
}
