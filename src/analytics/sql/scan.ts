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

/** What all parts of one statement share. */
export interface StatementContext {
  readonly query: Query
  readonly where: WhereWriter
}

/**
 * Writes a scan with some columns per group.
 *
 * @param keys a subquery of groups: only these are read; absent: all
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
  const rows = writeRows(query, relation, [
    ...(dimension === undefined ? [] : [sql`dimension = ${string(dimension)}`]),
    or(periods.map((period) => within(relation, period))),
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
 * The sessions with a matching event. A visit matches by any of its events, including those past the end of the period:
 * events are read up to the end of the last session that started in the period.
 */
function selectMatchingSessions({ query, where }: StatementContext): Sql {
  const started = writeRows(query, 'sessions', [within('sessions', query.period)])
  return sql`SELECT session FROM ${writeRows(query, 'events', [
    sql`timestamp >= ${time(clamp(query.period.start))}`,
    sql`timestamp <= (SELECT max(end_at) FROM ${started})`,
    where('events'),
  ])}`
}

/** Writes a table with its WHERE. No query names a table elsewhere, so none is read without the project's condition. */
function writeRows(query: Query, relation: RelationName, conditions: readonly Sql[]): Sql {
  const { table, conditions: own } = RELATIONS[relation]
  const all = [sql`project_id = ${string(query.projectId)}`, ...own, ...conditions]
  return sql`${table} WHERE ${join(
    all.filter((condition) => !isTrue(condition)),
    sql` AND `,
  )}`
}

const within = (relation: RelationName, { start, end }: Period): Sql =>
  RELATIONS[relation].within(time(clamp(start)), time(clamp(end)))

/** Draws a bound into the range of event timestamps: the types of the store hold nothing far outside of it. */
function clamp(bound: Date): Date {
  const { earliestTimestamp, endOfTimestamps } = EVENT_LIMITS
  const inside = Math.max(bound.getTime(), earliestTimestamp.getTime())
  return new Date(Math.min(inside, endOfTimestamps.getTime()))
}

interface GroupKey {
  readonly key: Sql
  /** What a row must satisfy to make a group; empty where every row does. */
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
