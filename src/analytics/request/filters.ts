/** Parses the filters of a request into one predicate on events. */
import type {
  AnalyticsQueryRequest,
  Filter,
  ListClause,
  ListOperator,
  StringClause,
  StringOperator,
} from '../../contract/api.js'
import type { DimensionName } from '../../model/dimensions.js'

/** A condition on one event. An empty `all` is true, an empty `any` is false. */
export type Predicate =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Predicate[] }
  | {
      readonly kind: 'string'
      readonly dimension: DimensionName
      readonly operator: StringOperator
      readonly value: string
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
    }
  | { readonly kind: 'anonymous'; readonly value: boolean }

const all = (of: readonly Predicate[]): Predicate => ({ kind: 'all', of })

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
  switch (filter.type) {
    case 'page':
      return all([
        ...parseOptional(parseString, 'page:origin', filter.origin),
        ...parseOptional(parseString, 'page:path', filter.path),
        ...parseOptional(parseString, 'page:hash', filter.hash),
      ])
    case 'event':
      return all([
        ...parseOptional(parseString, 'event:name', filter.name),
        ...(filter.properties ?? []).map(({ property, operator, value }): Predicate => ({
          kind: 'property',
          name: property,
          operator,
          value,
        })),
      ])
    case 'user':
      return { kind: 'anonymous', value: filter.anonymous }
    case 'location':
      return all([
        ...parseOptional(parseList, 'country', filter.country),
        ...parseOptional(parseList, 'city', filter.city),
      ])
    case 'referrer':
      return parseString('referrer', filter)
    case 'referrer_url':
      return parseString('referrer_url', filter)
    case 'referrer_type':
      return parseList('referrer_type', filter)
    case 'utm_tags':
      return all([
        ...parseOptional(parseString, 'utm_campaign', filter.utm_campaign),
        ...parseOptional(parseString, 'utm_content', filter.utm_content),
        ...parseOptional(parseString, 'utm_medium', filter.utm_medium),
        ...parseOptional(parseString, 'utm_source', filter.utm_source),
        ...parseOptional(parseString, 'utm_term', filter.utm_term),
      ])
    case 'browser':
      return parseList('browser', filter)
    case 'device':
      return parseList('device_type', filter)
    case 'os':
      return parseList('os', filter)
    default:
      return filter satisfies never
  }
}

const parseString = (dimension: DimensionName, { operator, value }: StringClause): Predicate => ({
  kind: 'string',
  dimension,
  operator,
  value,
})

const parseList = (dimension: DimensionName, { operator, value }: ListClause): Predicate => ({
  kind: 'list',
  dimension,
  operator,
  values: value,
})

function parseOptional<Clause>(
  parse: (dimension: DimensionName, clause: Clause) => Predicate,
  dimension: DimensionName,
  clause: Clause | undefined,
): Predicate[] {
  return clause === undefined ? [] : [parse(dimension, clause)]
}
