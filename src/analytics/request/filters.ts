/** Parses the filters of a request into one predicate on events. */
import type {
  AnalyticsQueryRequest,
  Filter,
  ListOperator,
  StringClause,
  StringOperator,
  TypedFilter,
  ValueFilter,
} from '../../contract/api.js'
import { listFieldClauses } from '../../contract/filter-fields.js'
import type { DimensionName } from '../../model/dimensions.js'
import { findListOperator, isNegative, listClauses } from './value-filters.js'

/** A condition on one event. An empty `all` is true, an empty `any` is false. */
export type Predicate =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Predicate[] }
  | { readonly kind: 'not'; readonly of: Predicate }
  /** Some event of the same session satisfies the predicate, in the period or not. */
  | { readonly kind: 'visit'; readonly of: Predicate }
  | {
      readonly kind: 'string'
      readonly dimension: DimensionName
      readonly operator: StringOperator
      readonly value: string
      readonly ignoresCase?: true
    }
  | {
      readonly kind: 'list'
      readonly dimension: DimensionName
      readonly operator: ListOperator
      readonly values: readonly string[]
    }
  | {
      readonly kind: 'property'
      readonly name: string
      readonly operator: StringOperator
      readonly value: string
      readonly ignoresCase?: true
    }
  | { readonly kind: 'anonymous'; readonly value: boolean }

const all = (of: readonly Predicate[]): Predicate => ({ kind: 'all', of })

/** Joins the conditions of a filter; a single one stays as it is. */
function join(of: readonly Predicate[]): Predicate {
  const [only] = of
  return only !== undefined && of.length === 1 ? only : all(of)
}

/** Parses the filters and joins them by `filtersOperator`. Without filters every event matches. */
export function parseFilters({
  filters,
  filtersOperator,
}: Pick<AnalyticsQueryRequest, 'filters' | 'filtersOperator'>): Predicate {
  const of = filters.map(parseFilter)
  return filtersOperator === 'or' && of.length > 0 ? { kind: 'any', of } : all(of)
}

/** Parses one filter. An event matches it when all of its clauses match. */
function parseFilter(filter: Filter): Predicate {
  return 'type' in filter ? parseTyped(filter) : parseValueFilter(filter)
}

/** Parses a comparison with several values, each of which is a condition of its own if no list operator compares them at once. */
function parseValueFilter(filter: ValueFilter): Predicate {
  const operator = findListOperator(filter)
  if (operator !== undefined && 'field' in filter) {
    return { kind: 'list', dimension: filter.field, operator, values: filter.value ?? [] }
  }
  const of = listClauses(filter).map((clause): Predicate => {
    const compared = readClause(clause)
    return 'field' in filter
      ? { kind: 'string', dimension: filter.field, ...compared }
      : { kind: 'property', name: filter.property, ...compared }
  })
  const [only] = of
  if (only !== undefined && of.length === 1) return only
  return { kind: isNegative(filter.operator) ? 'all' : 'any', of }
}

function parseTyped(filter: TypedFilter): Predicate {
  if (filter.type === 'user') return { kind: 'anonymous', value: filter.anonymous }
  if (filter.type === 'group') return parseGroup(filter)
  if (filter.type === 'segment') return all((filter.filters ?? []).map(parseFilter))
  if (filter.type === 'visit') return { kind: 'visit', of: all(filter.filters.map(parseFilter)) }
  const properties = filter.type === 'event' ? (filter.properties ?? []) : []
  return join([
    ...parseFields(filter),
    ...properties.map(({ property, ...clause }): Predicate => ({
      kind: 'property',
      name: property,
      ...readClause(clause),
    })),
  ])
}

/** Parses the clauses of the fields that a filter compares. */
const parseFields = (filter: TypedFilter): readonly Predicate[] =>
  listFieldClauses(filter).map((found): Predicate =>
    found.kind === 'string'
      ? { kind: 'string', dimension: found.name, ...readClause(found.clause) }
      : {
          kind: 'list',
          dimension: found.name,
          operator: found.clause.operator,
          values: found.clause.value,
        },
  )

function parseGroup({ operator, filters }: Extract<TypedFilter, { type: 'group' }>): Predicate {
  const of = filters.map(parseFilter)
  switch (operator) {
    case 'and':
      return all(of)
    case 'or':
      return { kind: 'any', of }
    case 'not':
      return { kind: 'not', of: all(of) }
    default:
      return operator satisfies never
  }
}

const readClause = ({ operator, value, caseSensitive = true }: StringClause) => ({
  operator,
  value,
  ...(caseSensitive ? {} : { ignoresCase: true as const }),
})
