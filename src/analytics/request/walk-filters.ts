/** Lists the filters of a request and their clauses, each with its place. */
import type { Filter, StringClause } from '../../contract/api.js'
import { UTM_TAGS } from './filters.js'

/** A filter, and its place in the request, such as `filters.0.filters.1`. */
export interface PlacedFilter {
  readonly filter: Filter
  readonly field: string
}

/** A string clause, and the place of its value. */
export interface PlacedClause {
  readonly clause: StringClause
  readonly field: string
}

/** Lists filters and those inside of them. */
export const listFilters = (
  filters: readonly Filter[],
  field = 'filters',
): readonly PlacedFilter[] =>
  filters.flatMap((filter, index) => {
    const placed = { filter, field: `${field}.${index}` }
    return 'filters' in filter
      ? [placed, ...listFilters(filter.filters, `${placed.field}.filters`)]
      : [placed]
  })

/** Lists the string clauses of a filter, without those of the filters inside of it. */
export function listStringClauses({ filter, field }: PlacedFilter): readonly PlacedClause[] {
  switch (filter.type) {
    case 'page': {
      const { origin, path, hash } = filter
      return listMembers(field, { origin, path, hash })
    }
    case 'event': {
      const properties = (filter.properties ?? []).entries()
      return [
        ...listMembers(field, { name: filter.name }),
        ...listMembers(`${field}.properties`, Object.fromEntries(properties)),
      ]
    }
    case 'utm_tags':
      return listMembers(field, Object.fromEntries(UTM_TAGS.map((tag) => [tag, filter[tag]])))
    case 'entry_page':
    case 'exit_page':
    case 'referrer':
    case 'referrer_url':
      return [{ clause: filter, field: `${field}.value` }]
    case 'user':
    case 'location':
    case 'referrer_type':
    case 'channel':
    case 'region':
    case 'language':
    case 'browser':
    case 'device':
    case 'os':
    case 'group':
    case 'visit':
      return []
    default:
      return filter satisfies never
  }
}

/** Lists the members that are there. */
const listMembers = (
  field: string,
  members: Readonly<Record<string, StringClause | undefined>>,
): readonly PlacedClause[] =>
  Object.entries(members).flatMap(([name, clause]) =>
    clause === undefined ? [] : [{ clause, field: `${field}.${name}.value` }],
  )
