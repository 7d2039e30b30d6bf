/** Filters as the page has them, one field each, and the filters of the API that they stand for. */
import type { Filter } from '../../contract/api.js'
import { findClauseKind, nameCompared, PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { DEFINITION_NAME } from '../../contract/management-api.js'
import { listForms } from '../format/values.js'

/** A field of events or of their sessions: a dimension of the API, `event:prop:` and the name of a property, or one of `ChosenField`. */
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

/** Whether values of the field can be compared by a part of them. The others are compared as a whole. */
export const isTextField = (field: Field): boolean => findClauseKind(field) === 'string'

/** Whether the field can be filtered by. */
export const isFilterField = (field: Field): boolean =>
  isChosenField(field) || findClauseKind(field) !== undefined

interface ChosenFieldRow {
  readonly name: string
  readonly isValue: RegExp
  /** Builds the filter that any of some values satisfies. */
  readonly build: (values: readonly string[]) => Filter
}

/** The fields that have filters of their own in the API, and whose values are chosen from a list. A new one is a row. */
export const CHOSEN_FIELDS = {
  weekday: {
    name: 'Weekday',
    isValue: /^[1-7]$/,
    build: (values) => ({ type: 'clock', weekdays: values.map(Number) }),
  },
  hour: {
    name: 'Hour',
    isValue: /^([01]\d|2[0-3])$/,
    build: (values) => ({ type: 'clock', hours: values.map(Number) }),
  },
  segment: {
    name: 'Segment',
    isValue: DEFINITION_NAME,
    build: (values) => {
      const [first = '', ...others] = values
      return others.length === 0
        ? { type: 'segment', value: first }
        : {
            type: 'group',
            operator: 'or',
            filters: values.map((value) => ({ type: 'segment', value })),
          }
    },
  },
} as const satisfies Readonly<Record<string, ChosenFieldRow>>

/** What the clock of the page's zone shows from `1`, Monday, and from `00`; or a segment of the project. */
export type ChosenField = keyof typeof CHOSEN_FIELDS

export const isChosenField = (field: Field): field is ChosenField =>
  Object.hasOwn(CHOSEN_FIELDS, field)

/** Lists the operators that compare a field: without a part of it where values are compared as a whole. */
export const listOperators = (field: Field): readonly FilterOperator[] =>
  isTextField(field) ? FILTER_OPERATORS : ['is', 'is_not']

/** Whether a filter can be sent. Fields of events may have any text as a value. */
export const isFilter = ({ field, operator, values }: FieldFilter): boolean =>
  isFilterField(field) &&
  values.length > 0 &&
  (!isChosenField(field) ||
    (listOperators(field).includes(operator) &&
      values.every((value) => CHOSEN_FIELDS[field].isValue.test(value))))

/** Whether the field is one of custom events. The others are of pages, or of all events of a session. */
export const isEventField = (field: Field): boolean =>
  field === 'event:name' || field.startsWith(PROPERTY_PREFIX)

/** Whether the field is one of single pages. */
export const isPageField = (field: Field): boolean =>
  field === 'page:path' || field === 'page:origin'

export const isNegation = (operator: FilterOperator): boolean =>
  operator === 'is_not' || operator === 'contains_not'

/** The filter that holds where another does not. */
export const negate = (filter: FieldFilter): FieldFilter => ({
  ...filter,
  operator: OPPOSITES[filter.operator],
})

/** Builds the filter of the API, a condition on one event. `contains` ignores upper and lower case, and how paths are encoded. */
export function toApiFilter({ field, operator, values }: FieldFilter): Filter {
  if (isChosenField(field)) {
    const chosen = CHOSEN_FIELDS[field].build([...new Set(values)])
    return isNegation(operator) ? { type: 'group', operator: 'not', filters: [chosen] } : chosen
  }
  const compared = { ...nameCompared(field), operator }
  return operator === 'contains' || operator === 'contains_not'
    ? {
        ...compared,
        value: values.flatMap((value) => listForms(field, value)),
        case_sensitive: false,
      }
    : { ...compared, value: values }
}
