/** Checks the limits of all filters of a request together, those inside of groups among them. */
import type { FieldError, Filter } from '../../contract/api.js'
import { isRecord } from '../../lib/records.js'

/** How many filters a request may have in all. A group counts as one, besides its filters. */
const MAX_FILTERS = 20
/** How many string clauses the filters of a request may have in all. */
const MAX_STRING_CLAUSES = 40
/** How deep groups may lie inside each other. */
const MAX_DEPTH = 4

/** Returns the errors of filters that are valid by themselves. */
export function checkFilterLimits(filters: readonly Filter[]): readonly FieldError[] {
  const all = listFilters(filters)
  const clauses = all.reduce((sum, filter) => sum + countStringClauses(filter), 0)
  return [
    ...checkCount('filters', all.length, MAX_FILTERS),
    ...checkCount('string clauses', clauses, MAX_STRING_CLAUSES),
  ]
}

/** Lists filters and those inside of them. */
const listFilters = (filters: readonly Filter[]): readonly Filter[] =>
  filters.flatMap((filter) =>
    filter.type === 'group' ? [filter, ...listFilters(filter.filters)] : [filter],
  )

/**
 * Finds the first group of a request that lies in too many others. The filters may be anything: schemas are validated
 * afterwards, since that calls a function for each level.
 */
export function findTooDeepGroup(
  filters: unknown,
  field = 'filters',
  depth = 0,
): FieldError | undefined {
  if (!Array.isArray(filters)) return undefined
  for (const [index, filter] of (filters as readonly unknown[]).entries()) {
    if (!isRecord(filter) || !Array.isArray(filter['filters'])) continue
    const place = `${field}.${index}`
    const found =
      depth < MAX_DEPTH
        ? findTooDeepGroup(filter['filters'], `${place}.filters`, depth + 1)
        : { field: place, message: `must not lie in more than ${MAX_DEPTH - 1} other groups` }
    if (found !== undefined) return found
  }
  return undefined
}

function checkCount(what: string, count: number, most: number): readonly FieldError[] {
  if (count <= most) return []
  return [
    { field: 'filters', message: `must hold at most ${most} ${what} in all, and hold ${count}` },
  ]
}

const countPresent = (clauses: readonly unknown[]): number =>
  clauses.filter((clause) => clause !== undefined).length

/** Counts the string clauses of a filter, without those of the filters inside of it. */
function countStringClauses(filter: Filter): number {
  switch (filter.type) {
    case 'page':
      return countPresent([filter.origin, filter.path, filter.hash])
    case 'event':
      return countPresent([filter.name, ...(filter.properties ?? [])])
    case 'utm_tags':
      return countPresent([
        filter.utm_campaign,
        filter.utm_content,
        filter.utm_medium,
        filter.utm_source,
        filter.utm_term,
      ])
    case 'referrer':
    case 'referrer_url':
      return 1
    case 'user':
    case 'location':
    case 'referrer_type':
    case 'browser':
    case 'device':
    case 'os':
    case 'group':
      return 0
    default:
      return filter satisfies never
  }
}
