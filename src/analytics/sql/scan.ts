/** Writes the SELECT of one scan: a relation's matching rows, grouped. */
import { isTrue, join, or, sql, string, time, type Sql } from '../../clickhouse/sql.js'
import { DIMENSIONS } from '../../model/dimensions.js'
import { EVENT_LIMITS } from '../../model/event-fields.js'
import { GRANULARITIES } from '../../model/granularities.js'
import { RELATIONS, type RelationName } from '../../model/relations.js'
import type { Scan } from '../plan/plan.js'
import type { Period } from '../request/period.js'
import type { Query } from '../request/query.js'
import type { WhereWriter } from './where.js'

/** The values that all parts of one statement share. */
export interface StatementContext {
  readonly query: Query
  /** The project of the query, as a parameter. */
  readonly project: Sql
  readonly where: WhereWriter
}

/**
 * Writes a scan: one row per group, with `group_key` and the given columns.
 *
 * @param keys a subquery of the groups to read; absent: all groups
 */
export function writeScan(
  context: StatementContext,
  scan: Scan,
  columns: readonly Sql[],
  keys?: Sql,
): Sql {
  const { query } = context
  const { relation, dimension, periods } = scan
  const { key, conditions } = writeGroupKey(query, relation)
  const rows = writeRows(context, relation, [
    ...(dimension === undefined ? [] : [sql`dimension = ${string(dimension)}`]),
    or(periods.map((period) => isWithin(relation, period))),
    ...conditions,
    filterRows(context, scan),
    ...(keys === undefined ? [] : [sql`${key} IN (${keys})`]),
  ])
  const grouped = query.grouping.kind === 'none' ? sql`` : sql` GROUP BY group_key`
  return sql`SELECT ${join([sql`${key} AS group_key`, ...columns])} FROM ${rows}${grouped}`
}

function filterRows(context: StatementContext, { relation, filteredBy }: Scan): Sql {
  switch (filteredBy) {
    case 'columns':
      return context.where(relation === 'events' ? 'events' : 'sessions')
    case 'entry':
      return context.where('entries')
    case 'value':
      return context.where('values')
    case 'events':
      return sql`session IN (${selectMatchingSessions(context)})`
    default:
      return filteredBy satisfies never
  }
}

/**
 * Selects the sessions with a matching event. A visit matches by any of its events, including those after the end of the
 * period, so events are read up to the end of the last session that started in the period.
 */
function selectMatchingSessions(context: StatementContext): Sql {
  const { query, where } = context
  const started = writeRows(context, 'sessions', [isWithin('sessions', query.period)])
  return sql`SELECT session FROM ${writeRows(context, 'events', [
    sql`timestamp >= ${time(clamp(query.period.start))}`,
    sql`timestamp <= (SELECT max(end_at) FROM ${started})`,
    where('events'),
  ])}`
}

/**
 * Writes a table with its WHERE. Only this function names the tables that queries read, so none is read without the
 * condition on the project.
 */
function writeRows(
  { project }: StatementContext,
  relation: RelationName,
  conditions: readonly Sql[],
): Sql {
  const isOfProject = sql`project_id = ${project}`
  const all = [isOfProject, ...RELATIONS[relation].conditions, ...conditions]
  return sql`${RELATIONS[relation].table} WHERE ${join(
    all.filter((condition) => !isTrue(condition)),
    sql` AND `,
  )}`
}

const isWithin = (relation: RelationName, { start, end }: Period): Sql =>
  RELATIONS[relation].isWithin(time(clamp(start)), time(clamp(end)))

/** Clamps a bound to the range of event timestamps, because the column types cannot hold moments far outside it. */
function clamp(bound: Date): Date {
  const { earliestTimestamp, endOfTimestamps } = EVENT_LIMITS
  const raised = Math.max(bound.getTime(), earliestTimestamp.getTime())
  return new Date(Math.min(raised, endOfTimestamps.getTime()))
}

interface GroupKey {
  readonly key: Sql
  /** The conditions under which a row makes a group; empty if every row does. */
  readonly conditions: readonly Sql[]
}

function writeGroupKey({ grouping }: Query, relation: RelationName): GroupKey {
  const { rollup, time: at } = RELATIONS[relation]
  switch (grouping.kind) {
    case 'none':
      return { key: sql`''`, conditions: [] }
    case 'interval':
      return { key: GRANULARITIES[grouping.granularity].expression(at), conditions: [] }
    case 'property': {
      if (rollup !== undefined) return { key: sql`value`, conditions: [] }
      const name = string(grouping.name)
      return { key: sql`properties[${name}]`, conditions: [sql`mapContains(properties, ${name})`] }
    }
    case 'dimension': {
      const { eventColumn, sessionColumn, entryColumn, groupFilter } =
        DIMENSIONS[grouping.dimension]
      // Sessions need no filter: only scans of events make groups.
      if (relation === 'sessions')
        return { key: sessionColumn ?? entryColumn ?? eventColumn, conditions: [] }
      const key = rollup === undefined ? eventColumn : sql`value`
      return { key, conditions: groupFilter === undefined ? [] : [groupFilter(key)] }
    }
    default:
      return grouping satisfies never
  }
}
