/** Checks the limits of all filters of a request together, those inside of groups among them. */
import type { FieldError, Filter, StringOperator } from '../../contract/api.js'
import { isRecord } from '../../lib/records.js'
import { MAX_FILTERS } from '../../model/definitions.js'
import { checkPattern } from './patterns.js'
import {
  listFilters,
  listStringClauses,
  type PlacedClause,
  type PlacedFilter,
} from './walk-filters.js'

/** How many string clauses the filters of a request may have in all. */
const MAX_STRING_CLAUSES = 40
/** How deep groups and visits may lie inside each other. */
const MAX_DEPTH = 4

/** Returns the errors of filters that are valid by themselves. */
export const checkFilterLimits = (filters: readonly Filter[]): readonly FieldError[] =>
  checkPlacedFilters(listFilters(filters), 'filters')

/** Returns the errors of all filters of a request. @param field is named where there are too many */
export function checkPlacedFilters(
  all: readonly PlacedFilter[],
  field: string,
): readonly FieldError[] {
  const clauses = all.flatMap(listStringClauses)
  return [
    ...checkCount(field, 'filters', all.length, MAX_FILTERS),
    ...checkCount(field, 'string clauses', clauses.length, MAX_STRING_CLAUSES),
    ...all.flatMap(checkValues),
    ...clauses.slice(0, MAX_STRING_CLAUSES).flatMap(checkClause),
  ]
}

/**
 * Finds the first group or visit of a request that lies in too many others. The filters may be anything: schemas are validated
 * afterwards, since that calls a function for each level.
 */
export function findTooDeepFilter(
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
        ? findTooDeepFilter(filter['filters'], `${place}.filters`, depth + 1)
        : { field: place, message: `must not lie in more than ${MAX_DEPTH - 1} other filters` }
    if (found !== undefined) return found
  }
  return undefined
}

function checkCount(
  field: string,
  what: string,
  count: number,
  most: number,
): readonly FieldError[] {
  if (count <= most) return []
  return [{ field, message: `must hold at most ${most} ${what} in all, and hold ${count}` }]
}

function checkClause({ field, clause: { operator, value } }: PlacedClause): readonly FieldError[] {
  const message = isPattern(operator) ? checkPattern(value) : undefined
  return message === undefined ? [] : [{ field, message }]
}

/** Checks the values of a filter: every operator but `is_set` needs them. */
function checkValues({ filter, field }: PlacedFilter): readonly FieldError[] {
  if ('type' in filter) return []
  const { operator, value } = filter
  if ((value === undefined) === (operator === 'is_set')) return []
  const message =
    value === undefined
      ? 'is required, an array such as ["one value","another"]'
      : 'must be left out: the operator is_set takes no value'
  return [{ field: `${field}.value`, message }]
}

/** Lists the fields of a request that hold patterns. */
export const listPatternFields = (filters: readonly Filter[]): readonly string[] =>
  listPlacedPatternFields(listFilters(filters))

export const listPlacedPatternFields = (filters: readonly PlacedFilter[]): readonly string[] =>
  filters
    .flatMap(listStringClauses)
    .filter(({ clause }) => isPattern(clause.operator))
    .map(({ field }) => field)

const isPattern = (operator: StringOperator): boolean =>
  operator === 'matches' || operator === 'notMatches'
