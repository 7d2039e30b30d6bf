/** Filters as the page has them, one field each, and the filters of the API that they stand for. */
import type { Filter } from '../../contract/api.js'
import { findClauseKind, nameCompared, PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { listForms } from '../format/values.js'

/** A field of events or of their sessions: a dimension of the API, or `event:prop:` and the name of a property. */
export type Field = string

export const FILTER_OPERATORS = ['is', 'is_not', 'contains', 'contains_not'] as const
export type FilterOperator = (typeof FILTER_OPERATORS)[number]

/** The operator that holds where the other does not. */
export const OPPOSITES = {
  is: 'is_not',
  is_not: 'is',
  contains: 'contains_not',
  contains_not: 'contains',
} as const satisfies Record<FilterOperator, FilterOperator>

/** A condition on a field. It holds if any of the values matches, or with a negation if none does. */
export interface FieldFilter {
  readonly field: Field
  readonly operator: FilterOperator
  /** At least one. `""` is a missing value. */
  readonly values: readonly string[]
}

/** What names of goals and segments are made of. */
export const DEFINITION_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/** Whether values of the field can be compared by a part of them. The others are compared as a whole. */
export const isTextField = (field: Field): boolean => findClauseKind(field) === 'string'

/** Whether the field can be filtered by. */
export const isFilterField = (field: Field): boolean => findClauseKind(field) !== undefined

/** Whether the field is one of custom events. The others are of pages, or of all events of a session. */
export const isEventField = (field: Field): boolean =>
  field === 'event:name' || field.startsWith(PROPERTY_PREFIX)

export const isNegation = (operator: FilterOperator): boolean =>
  operator === 'is_not' || operator === 'contains_not'

/** Builds the filter of the API, a condition on one event. `contains` ignores upper and lower case, and how paths are encoded. */
export function toApiFilter({ field, operator, values }: FieldFilter): Filter {
  const compared = { ...nameCompared(field), operator }
  return operator === 'contains' || operator === 'contains_not'
    ? {
        ...compared,
        value: values.flatMap((value) => listForms(field, value)),
        case_sensitive: false,
      }
    : { ...compared, value: values }
}
