/** Turns the filters of a request into one condition on an event, with nothing left to parse. */
import type {
  AnalyticsQueryRequest,
  Filter,
  ListClause,
  ListOperator,
  StringClause,
  StringOperator,
} from '../../contract/api.js'
import type { DimensionName } from '../../model/dimensions.js'

/** A condition on one event. `all` of nothing is true, `any` of nothing is false. */
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

/** The filters joined as `filtersOperator` says; no filters at all select every event. */
export function toPredicate({
  filters,
  filtersOperator,
}: Pick<AnalyticsQueryRequest, 'filters' | 'filtersOperator'>): Predicate {
  const of = filters.map(toCondition)
  return filtersOperator === 'or' && of.length > 0 ? { kind: 'any', of } : all(of)
}

/** One filter: all of its members hold. */
function toCondition(filter: Filter): Predicate {
  switch (filter.type) {
    case 'page':
      return all([
        ...optional(string, 'page:origin', filter.origin),
        ...optional(string, 'page:path', filter.path),
        ...optional(string, 'page:hash', filter.hash),
      ])
    case 'event':
      return all([
        ...optional(string, 'event:name', filter.name),
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
        ...optional(list, 'country', filter.country),
        ...optional(list, 'city', filter.city),
      ])
    case 'referrer':
      return string('referrer', filter)
    case 'referrer_url':
      return string('referrer_url', filter)
    case 'referrer_type':
      return list('referrer_type', filter)
    case 'utm_tags':
      return all([
        ...optional(string, 'utm_campaign', filter.utm_campaign),
        ...optional(string, 'utm_content', filter.utm_content),
        ...optional(string, 'utm_medium', filter.utm_medium),
        ...optional(string, 'utm_source', filter.utm_source),
        ...optional(string, 'utm_term', filter.utm_term),
      ])
    case 'browser':
      return list('browser', filter)
    case 'device':
      return list('device_type', filter)
    case 'os':
      return list('os', filter)
    default:
      return filter satisfies never
  }
}

const string = (dimension: DimensionName, { operator, value }: StringClause): Predicate => ({
  kind: 'string',
  dimension,
  operator,
  value,
})

const list = (dimension: DimensionName, { operator, value }: ListClause): Predicate => ({
  kind: 'list',
  dimension,
  operator,
  values: value,
})

function optional<Clause>(
  condition: (dimension: DimensionName, clause: Clause) => Predicate,
  dimension: DimensionName,
  clause: Clause | undefined,
): Predicate[] {
  return clause === undefined ? [] : [condition(dimension, clause)]
}
