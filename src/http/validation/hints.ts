/** Adds to an error what to write instead, for the slips that clients make most often. */
import { FILTER_FIELDS, type FilterField } from '../../contract/filter-fields.js'
import { isRecord } from '../../lib/records.js'
import type { KeywordError } from './union-errors.js'

/** What a value of a field looks like, by the field's path with `*` for array positions. */
const FIELDS: Readonly<Record<string, string>> = {
  metrics: '["users"]',
  group_by: '["country"]',
  then_by: '["country"]',
  order_by: '[["users","desc"]]',
  'order_by.*': '["users","desc"]',
  filters: '[{"type":"browser","operator":"oneOf","value":["Firefox"]}]',
}

/** The same for the members of filters, by their last name. */
const FILTER_MEMBERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(FILTER_FIELDS).flatMap(listExample)),
  value: '["one value","another"]',
}

/** Returns the member of a filter that compares a field, with a clause of its kind; nothing if the filter itself is the clause. */
function listExample({ member, kind, example }: FilterField): readonly [string, string][] {
  const clause =
    kind === 'string' ? { operator: 'eq', value: example } : { operator: 'oneOf', value: [example] }
  return member === undefined ? [] : [[member, JSON.stringify(clause)]]
}

/** Returns the error with an example in its message, if it is one of those slips. `body` is the request's. */
export function addHint(error: KeywordError, body: unknown): KeywordError {
  const { field, keyword, type, message } = error
  if (field === 'order_by' && keyword === 'maxItems' && isFlatOrder(body)) {
    return { ...error, message: `must be an array of pairs: write ${FIELDS['order_by'] ?? ''}` }
  }
  if (type !== 'array' && type !== 'object') return error
  const example = findExample(field)
  return example === undefined ? error : { ...error, message: `${message}, such as ${example}` }
}

/** Whether the order is a field and a direction that are not in an array of their own. */
const isFlatOrder = (body: unknown): boolean =>
  isRecord(body) && Array.isArray(body['order_by']) && typeof body['order_by'][0] === 'string'

function findExample(field: string): string | undefined {
  const path = field.replaceAll(/\b\d+\b/g, '*')
  if (Object.hasOwn(FIELDS, path)) return FIELDS[path]
  const name = path.slice(path.lastIndexOf('.') + 1)
  const isMember = path.startsWith('filters.*.') && Object.hasOwn(FILTER_MEMBERS, name)
  return isMember ? FILTER_MEMBERS[name] : undefined
}
