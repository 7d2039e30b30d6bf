/** Writes the SELECT of one scan: the groups of a relation's matching rows. */
import { isTrue, join, or, sql, string, time, type Sql } from '../../clickhouse/sql.js'
import { condition, ENTRY_TERMS, EVENT_TERMS, SESSION_TERMS, VALUE_TERMS } from './where.js'
import { DIMENSIONS } from '../../model/dimensions.js'
import { GRANULARITIES } from '../../model/granularities.js'
import { RELATIONS, type RelationName } from '../../model/relations.js'
import type { Period } from '../request/period.js'
import type { Scan } from '../plan/planner.js'
import type { Query } from '../request/query.js'

/**
 * The scan as SQL, with the given columns for each group.
 *
 * @param keys a subquery: only these groups are read
 */
export function scanned(query: Query, scan: Scan, columns: readonly Sql[], keys?: Sql): Sql {
  const { relation, dimension, periods } = scan
  const { key, groups } = groupKey(query, relation)
  const conditions = [
    ...(dimension === undefined ? [] : [sql`dimension = ${string(dimension)}`]),
    or(periods.map((period) => within(relation, period))),
    ...groups,
    matching(query, scan),
    ...(keys === undefined ? [] : [sql`${key} IN (${keys})`]),
  ]
  return sql`SELECT ${join([sql`${key} AS group_key`, ...columns])} FROM ${rowsOf(query, relation, conditions)}${query.grouping.kind === 'none' ? sql`` : sql` GROUP BY group_key`}`
}

function matching(query: Query, { relation, filteredBy }: Scan): Sql {
  switch (filteredBy) {
    case 'columns':
      return condition(query.predicate, relation === 'events' ? EVENT_TERMS : SESSION_TERMS)
    case 'entry':
      return condition(query.predicate, ENTRY_TERMS)
    case 'value':
      return condition(query.predicate, VALUE_TERMS)
    case 'events':
      return sql`session IN (${sessionsWithMatchingEvents(query)})`
    default:
      return filteredBy satisfies never
  }
}

/**
 * A visit matches by any of its events, also one past the end of the period. Events are read up to the
 * end of the last session that started in the period.
 */
function sessionsWithMatchingEvents(query: Query): Sql {
  const started = rowsOf(query, 'sessions', [within('sessions', query.period)])
  return sql`SELECT session FROM ${rowsOf(query, 'events', [
    sql`timestamp >= ${time(stored(query.period.start))}`,
    sql`timestamp <= (SELECT max(end_at) FROM ${started})`,
    condition(query.predicate, EVENT_TERMS),
  ])}`
}

/** The one place where a question names a table: none is read without the project's condition. */
function rowsOf(query: Query, relation: RelationName, conditions: readonly Sql[]): Sql {
  const { table, conditions: own } = RELATIONS[relation]
  const all = [sql`project_id = ${string(query.projectId)}`, ...own, ...conditions]
  return sql`${table} WHERE ${join(
    all.filter((one) => !isTrue(one)),
    sql` AND `,
  )}`
}

const within = (relation: RelationName, { start, end }: Period): Sql =>
  RELATIONS[relation].within(time(stored(start)), time(stored(end)))

/** Events lie between 1970 and 2100: the store's types hold no bounds far outside. */
const stored = (bound: Date): Date =>
  new Date(Math.min(Math.max(bound.getTime(), 0), Date.UTC(2100, 0)))

interface GroupKey {
  readonly key: Sql
  /** What a row must satisfy to make a group; empty where every row does. */
  readonly groups: readonly Sql[]
}

function groupKey({ grouping }: Query, relation: RelationName): GroupKey {
  const { rollup, time: at } = RELATIONS[relation]
  switch (grouping.kind) {
    case 'none':
      return { key: sql`''`, groups: [] }
    case 'interval':
      return { key: GRANULARITIES[grouping.granularity].expression(at), groups: [] }
    case 'property': {
      if (rollup !== undefined) return { key: sql`value`, groups: [] }
      const name = string(grouping.name)
      return { key: sql`properties[${name}]`, groups: [sql`mapContains(properties, ${name})`] }
    }
    case 'dimension': {
      const { eventColumn, sessionColumn, entryColumn, groupFilter } =
        DIMENSIONS[grouping.dimension]
      // Visits make no group: whatever they are grouped by, rows of events decide.
      if (relation === 'sessions')
        return { key: sessionColumn ?? entryColumn ?? eventColumn, groups: [] }
      const key = rollup === undefined ? eventColumn : sql`value`
      return { key, groups: groupFilter === undefined ? [] : [groupFilter(key)] }
    }
    default:
      return grouping satisfies never
  }
}
