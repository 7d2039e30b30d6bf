/** What the filters that compare a field or a property with several values mean, in terms of clauses with one value. */
import type {
  FilterOperator,
  ListOperator,
  StringClause,
  StringOperator,
  ValueFilter,
} from '../../contract/api.js'

interface Meaning {
  /** How one value is compared. */
  readonly one: StringOperator
  /** How all values are compared at once; absent if only one by one. */
  readonly list?: ListOperator
  /** Whether the filter holds if no value matches, not if any does. */
  readonly isNegative?: true
}

const MEANINGS: Readonly<Record<FilterOperator, Meaning>> = {
  is: { one: 'eq', list: 'oneOf' },
  is_not: { one: 'notEq', list: 'noneOf', isNegative: true },
  contains: { one: 'contains' },
  contains_not: { one: 'notContains', isNegative: true },
  starts_with: { one: 'startsWith' },
  ends_with: { one: 'endsWith' },
  matches: { one: 'matches' },
  matches_not: { one: 'notMatches', isNegative: true },
  is_set: { one: 'any' },
}

/** Whether a filter with the operator holds if none of its values matches. */
export const isNegative = (operator: FilterOperator): boolean =>
  MEANINGS[operator].isNegative ?? false

/** Returns the operator that compares a field with all values of a filter at once; undefined if each is compared by itself. */
export const findListOperator = (filter: ValueFilter): ListOperator | undefined =>
  'field' in filter && filter.case_sensitive !== false ? MEANINGS[filter.operator].list : undefined

/** Lists a clause for each value of a filter. */
export const listClauses = ({
  operator,
  value = operator === 'is_set' ? [''] : [],
  case_sensitive: caseSensitive = true,
}: ValueFilter): readonly StringClause[] =>
  value.map((one) => ({ operator: MEANINGS[operator].one, value: one, caseSensitive }))
