/** Writes a predicate as a condition on the rows of a relation. */
import { and, boolean, or, sql, type Sql } from '../clickhouse/sql.js'
import { DIMENSIONS, type DimensionName } from './model/dimensions.js'
import { LIST_OPERATORS, PROPERTY_OPERATORS, STRING_OPERATORS } from './model/operators.js'
import type { RelationName } from './model/relations.js'
import type { Predicate } from './predicate.js'

/**
 * The condition that a row satisfies exactly when the predicate holds.
 *
 * @throws TypeError when the relation lacks a column: the planner puts a predicate only to relations
 *   that have all of them
 */
export function condition(predicate: Predicate, relation: RelationName): Sql {
  switch (predicate.kind) {
    case 'all':
      return and(predicate.of.map((part) => condition(part, relation)))
    case 'any':
      return or(predicate.of.map((part) => condition(part, relation)))
    case 'string':
      return STRING_OPERATORS[predicate.operator](
        columnOf(predicate.dimension, relation),
        predicate.value,
      )
    case 'list':
      return LIST_OPERATORS[predicate.operator](
        columnOf(predicate.dimension, relation),
        predicate.values,
      )
    case 'property':
      return PROPERTY_OPERATORS[predicate.operator](predicate.name, predicate.value)
    case 'anonymous':
      return sql`anonymous = ${boolean(predicate.value)}`
    default:
      return predicate satisfies never
  }
}

function columnOf(dimension: DimensionName, relation: RelationName): Sql {
  const row = DIMENSIONS[dimension]
  const column = relation === 'events' ? row.event : row.session
  if (column === undefined) throw new TypeError(`${relation} has no column of ${dimension}`)
  return column
}
