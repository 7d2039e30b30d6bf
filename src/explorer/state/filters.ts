/** Filters as the page has them, one field each, and the filters of the API that they stand for. */
import type { QueryBody } from '../client/contract.js'

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

/** A filter of the API. */
export type ApiFilter = NonNullable<QueryBody['filters']>[number]
type StringOperator = 'eq' | 'notEq' | 'contains' | 'notContains'
type ListOperator = 'oneOf' | 'noneOf'

interface StringClause {
  readonly operator: StringOperator
  readonly value: string
  readonly caseSensitive?: false
}

/** Fields that are compared with one text, and their filter. */
const TEXT_FIELDS: Readonly<Record<string, (clause: StringClause) => ApiFilter>> = {
  'page:path': (path) => ({ type: 'page', path }),
  'page:origin': (origin) => ({ type: 'page', origin }),
  'page:entry': (clause) => ({ type: 'entry_page', ...clause }),
  'page:exit': (clause) => ({ type: 'exit_page', ...clause }),
  referrer: (clause) => ({ type: 'referrer', ...clause }),
  utm_source: (utm_source) => ({ type: 'utm_tags', utm_source }),
  utm_medium: (utm_medium) => ({ type: 'utm_tags', utm_medium }),
  utm_campaign: (utm_campaign) => ({ type: 'utm_tags', utm_campaign }),
  utm_content: (utm_content) => ({ type: 'utm_tags', utm_content }),
  utm_term: (utm_term) => ({ type: 'utm_tags', utm_term }),
  'event:name': (name) => ({ type: 'event', name }),
}

/** Fields that are compared with a list of values, and their filter. */
const LIST_FIELDS: Readonly<
  Record<string, (clause: { operator: ListOperator; value: string[] }) => ApiFilter>
> = {
  country: (country) => ({ type: 'location', country }),
  city: (city) => ({ type: 'location', city }),
  region: (clause) => ({ type: 'region', ...clause }),
  language: (clause) => ({ type: 'language', ...clause }),
  browser: (clause) => ({ type: 'browser', ...clause }),
  os: (clause) => ({ type: 'os', ...clause }),
  device_type: (clause) => ({ type: 'device', ...clause }),
  channel: (clause) => ({ type: 'channel', ...clause }),
  referrer_type: (clause) => ({ type: 'referrer_type', ...clause }),
}

/** What the name of a property follows in the field that stands for it. */
export const PROPERTY = 'event:prop:'

/** Whether values of the field can be compared by a part of them. The others are compared as a whole. */
export const isTextField = (field: Field): boolean =>
  field in TEXT_FIELDS || field.startsWith(PROPERTY)

/** Whether the field can be filtered by. */
export const isFilterField = (field: Field): boolean => isTextField(field) || field in LIST_FIELDS

/** Whether the field is one of custom events. The others are of pages, or of all events of a session. */
export const isEventField = (field: Field): boolean =>
  field === 'event:name' || field.startsWith(PROPERTY)

export const isNegation = (operator: FilterOperator): boolean =>
  operator === 'is_not' || operator === 'contains_not'

const STRING_OPERATORS: Readonly<Record<FilterOperator, StringOperator>> = {
  is: 'eq',
  is_not: 'notEq',
  contains: 'contains',
  contains_not: 'notContains',
}

/** Builds the filter of the API, a condition on one event. Several texts become a group of filters, one for each. */
export function toApiFilter({ field, operator, values }: FieldFilter): ApiFilter {
  const ofList = LIST_FIELDS[field]
  if (ofList !== undefined) {
    return ofList({ operator: isNegation(operator) ? 'noneOf' : 'oneOf', value: [...values] })
  }
  const ofText = TEXT_FIELDS[field] ?? ofProperty(field.slice(PROPERTY.length))
  const filters = values.map((value) =>
    ofText({
      operator: STRING_OPERATORS[operator],
      value,
      ...(operator.startsWith('contains') ? { caseSensitive: false } : {}),
    }),
  )
  const [only] = filters
  return only !== undefined && filters.length === 1
    ? only
    : { type: 'group', operator: isNegation(operator) ? 'and' : 'or', filters }
}

const ofProperty =
  (property: string) =>
  (clause: StringClause): ApiFilter => ({ type: 'event', properties: [{ property, ...clause }] })
