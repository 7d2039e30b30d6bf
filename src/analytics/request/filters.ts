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

/** Parses the filters and joins them by `filtersOperator`. Without filters every event matches. */
export function parseFilters({
  filters,
  filtersOperator,
}: Pick<AnalyticsQueryRequest, 'filters' | 'filtersOperator'>): Predicate {
  const of = filters.map(parseFilter)
  return filtersOperator === 'or' && of.length > 0 ? { kind: 'any', of } : all(of)
}

/** The members of a filter by tags of a campaign. */
export const UTM_TAGS = [
  'utm_campaign',
  'utm_content',
  'utm_medium',
  'utm_source',
  'utm_term',
] as const

/** Parses one filter. An event matches it when all of its clauses match. */
function parseFilter(filter: Filter): Predicate {
  switch (filter.type) {
    case 'page':
      return all([
        ...parseOptional(parseString, 'page:origin', filter.origin),
        ...parseOptional(parseString, 'page:path', filter.path),
        ...parseOptional(parseString, 'page:hash', filter.hash),
      ])
    case 'entry_page':
      return parseString('page:entry', filter)
    case 'exit_page':
      return parseString('page:exit', filter)
    case 'event':
      return all([
        ...parseOptional(parseString, 'event:name', filter.name),
        ...(filter.properties ?? []).map(({ property, ...clause }): Predicate => ({
          kind: 'property',
          name: property,
          ...readClause(clause),
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
    case 'referrer_url':
      return parseString(filter.type, filter)
    case 'utm_tags':
      return all(UTM_TAGS.flatMap((tag) => parseOptional(parseString, tag, filter[tag])))
    case 'referrer_type':
    case 'channel':
    case 'region':
    case 'language':
    case 'browser':
    case 'os':
      return parseList(filter.type, filter)
    case 'device':
      return parseList('device_type', filter)
    case 'group':
      return parseGroup(filter)
    case 'visit':
      return { kind: 'visit', of: all(filter.filters.map(parseFilter)) }
    default:
      return filter satisfies never
  }
}

function parseGroup({ operator, filters }: Extract<Filter, { type: 'group' }>): Predicate {
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

const parseString = (dimension: DimensionName, clause: StringClause): Predicate => ({
  kind: 'string',
  dimension,
  ...readClause(clause),
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
