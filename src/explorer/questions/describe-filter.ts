/** Filters in words. */
import { nameValue } from '../format/values.js'
import { isEventField, type FieldFilter, type FilterOperator } from '../state/filters.js'
import { findTab } from './panels.js'

const OPERATOR_NAMES: Readonly<Record<FilterOperator, string>> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  contains_not: 'does not contain',
}

/** Before the field of an event, and before the value. */
const VISIT_NAMES: Readonly<Record<FilterOperator, readonly [string, string]>> = {
  is: ['Visit with', ''],
  is_not: ['Visit without', ''],
  contains: ['Visit with', 'containing '],
  contains_not: ['Visit without', 'containing '],
}

/** Describes a filter, such as `Country is Germany or Austria`, or `Visit with plan pro`. */
export function describeFilter({ field, operator, values }: FieldFilter): string {
  const names = values.map((value) => nameValue(field, value)).join(' or ')
  const fieldName = findTab(field)?.name ?? field
  if (!isEventField(field)) return `${fieldName} ${OPERATOR_NAMES[operator]} ${names}`
  const [visit, before] = VISIT_NAMES[operator]
  return `${visit} ${field === 'event:name' ? 'event' : fieldName} ${before}${names}`
}
