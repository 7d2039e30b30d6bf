/** Writes a predicate as a condition on the rows of a relation. */
import { and, boolean, or, sql, type Sql } from '../../clickhouse/sql.js'
import { DIMENSIONS, type DimensionName } from '../../model/dimensions.js'
import {
  LIST_OPERATORS,
  PRESENT_OPERATORS,
  PROPERTY_OPERATORS,
  STRING_OPERATORS,
  type PropertyCondition,
} from '../../model/operators.js'
import type { Predicate } from '../request/filters.js'

/** How the rows of a relation show what a predicate looks at; what they do not show is absent. */
export interface Terms {
  readonly dimension: (name: DimensionName) => Sql | undefined
  readonly property?: Readonly<
    Record<Extract<Predicate, { kind: 'property' }>['operator'], PropertyCondition>
  >
  readonly anonymous?: Sql
}

/** Rows of `events`. */
export const EVENT_TERMS: Terms = {
  dimension: (name) => DIMENSIONS[name].eventColumn,
  property: PROPERTY_OPERATORS,
  anonymous: sql`anonymous`,
}

/** Rows of `sessions`, by what all events of a session have in common. */
export const SESSION_TERMS: Terms = { dimension: (name) => DIMENSIONS[name].sessionColumn }

/** Rows of `sessions`, by the page that the visit entered on. */
export const ENTRY_TERMS: Terms = { dimension: (name) => DIMENSIONS[name].entryColumn }

/** Rows of a rollup that count by the one thing that the predicate looks at, each a value of it. */
export const VALUE_TERMS: Terms = { dimension: () => sql`value`, property: PRESENT_OPERATORS }

/** What was written of a predicate: a statement that asks for it again sends its values once. */
const written = new WeakMap<Predicate, Map<Terms, Sql>>()

/**
 * The condition that a row satisfies exactly when the predicate holds; the same fragment each time.
 *
 * @throws TypeError when the rows lack something: the planner puts a predicate only to relations that
 *   show all it looks at
 */
export function condition(predicate: Predicate, terms: Terms): Sql {
  const known = written.get(predicate) ?? new Map<Terms, Sql>()
  written.set(predicate, known)
  const fragment = known.get(terms) ?? write(predicate, terms)
  known.set(terms, fragment)
  return fragment
}

function write(predicate: Predicate, terms: Terms): Sql {
  switch (predicate.kind) {
    case 'all':
      return and(predicate.of.map((part) => write(part, terms)))
    case 'any':
      return or(predicate.of.map((part) => write(part, terms)))
    case 'string':
      return STRING_OPERATORS[predicate.operator](
        given(terms.dimension(predicate.dimension)),
        predicate.value,
      )
    case 'list':
      return LIST_OPERATORS[predicate.operator](
        given(terms.dimension(predicate.dimension)),
        predicate.values,
      )
    case 'property':
      return given(terms.property)[predicate.operator](predicate.name, predicate.value)
    case 'anonymous':
      return sql`${given(terms.anonymous)} = ${boolean(predicate.value)}`
    default:
      return predicate satisfies never
  }
}

function given<T>(term: T | undefined): T {
  if (term === undefined) throw new TypeError('the relation lacks what the predicate looks at')
  return term
}
