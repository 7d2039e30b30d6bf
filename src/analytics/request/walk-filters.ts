/** Lists the filters of a request and their clauses, each with its place. */
import type { Filter, StringClause } from '../../contract/api.js'
import { listFieldClauses } from '../../contract/filter-fields.js'
import { findListOperator, listClauses } from './value-filters.js'

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
  if (!('type' in filter)) {
    if (findListOperator(filter) !== undefined) return []
    return listClauses(filter).map((clause, index) => ({
      clause,
      field: `${field}.value.${index}`,
    }))
  }
  const ofFields = listFieldClauses(filter).flatMap(({ member, kind, clause }) =>
    kind === 'string' ? [{ clause, field: nameValue(field, member) }] : [],
  )
  const properties = filter.type === 'event' ? (filter.properties ?? []) : []
  return [
    ...ofFields,
    ...properties.map((clause, index) => ({
      clause,
      field: nameValue(field, `properties.${index}`),
    })),
  ]
}

const nameValue = (field: string, member: string | undefined): string =>
  [field, ...(member === undefined ? [] : [member]), 'value'].join('.')
