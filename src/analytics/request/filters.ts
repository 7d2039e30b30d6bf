/** Parses the filters of a request into one predicate on events. */
import type {
  AnalyticsQueryRequest,
  ClockField,
  Filter,
  ListOperator,
  StringClause,
  StringOperator,
  TypedFilter,
  ValueFilter,
} from '../../contract/api.js'
import { listFieldClauses } from '../../contract/filter-fields.js'
import { UTC } from '../../lib/time-zone.js'
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
  /** The clock of a zone shows one of some values: as the keys of groups by it. */
  | {
      readonly kind: 'clock'
      readonly part: ClockField
      readonly zone: string
      readonly values: readonly string[]
    }

const all = (of: readonly Predicate[]): Predicate => ({ kind: 'all', of })

/** Joins the conditions of a filter; a single one stays as it is. */
function join(of: readonly Predicate[]): Predicate {
  const [only] = of
  return only !== undefined && of.length === 1 ? only : all(of)
}

/** Parses the filters and joins them by `filtersOperator`. Without filters every event matches. Without a zone, clocks show UTC. */
export function parseFilters({
  filters,
  filtersOperator,
  time_zone: zone = UTC,
}: Pick<AnalyticsQueryRequest, 'filters' | 'filtersOperator'> & {
  readonly time_zone?: string | undefined
}): Predicate {
  const of = parseAll(filters, zone)
  return filtersOperator === 'or' && of.length > 0 ? { kind: 'any', of } : all(of)
}

const parseAll = (filters: readonly Filter[], zone: string): readonly Predicate[] =>
  filters.map((filter) => parseFilter(filter, zone))

/** Parses one filter. An event matches it when all of its clauses match. */
function parseFilter(filter: Filter, zone: string): Predicate {
  return 'type' in filter ? parseTyped(filter, zone) : parseValueFilter(filter)
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

function parseTyped(filter: TypedFilter, zone: string): Predicate {
  if (filter.type === 'user') return { kind: 'anonymous', value: filter.anonymous }
  if (filter.type === 'clock') return parseClock(filter, zone)
  if (filter.type === 'group') return parseGroup(filter, zone)
  if (filter.type === 'segment') return all(parseAll(filter.filters ?? [], zone))
  if (filter.type === 'visit') return { kind: 'visit', of: all(parseAll(filter.filters, zone)) }
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

/** Values are written as the keys of groups: `1` to `7`, and `00` to `23`. */
function parseClock(
  { weekdays, hours }: Extract<TypedFilter, { type: 'clock' }>,
  zone: string,
): Predicate {
  const compare = (part: ClockField, values: readonly number[] | undefined, digits: number) =>
    values === undefined
      ? []
      : [
          {
            kind: 'clock' as const,
            ...{ part, zone },
            values: values.map((value) => String(value).padStart(digits, '0')).sort(),
          },
        ]
  return join([...compare('weekday', weekdays, 1), ...compare('hour', hours, 2)])
}

function parseGroup(
  { operator, filters }: Extract<TypedFilter, { type: 'group' }>,
  zone: string,
): Predicate {
  const of = parseAll(filters, zone)
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
