/** Adds to an error what to write instead, for the slips that clients make most often. */
import {
  FILTER_FIELD_NAMES,
  FILTER_FIELDS,
  PROPERTY_PREFIX,
  type FilterPlace,
} from '../../contract/filter-fields.js'
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
function listExample({ member, kind, example }: FilterPlace): readonly [string, string][] {
  const clause =
    kind === 'string' ? { operator: 'eq', value: example } : { operator: 'oneOf', value: [example] }
  return member === undefined ? [] : [[member, JSON.stringify(clause)]]
}

/** Returns the error with an example in its message, if it is one of those slips. `body` is the request's. */
export function addHint(error: KeywordError, body: unknown): KeywordError {
  const { field, keyword, type, message } = error
  if (field === 'group_by' && keyword === 'maxItems') {
    return { ...error, message: `${message}: a second grouping goes in then_by` }
  }
  if (field === 'order_by' && keyword === 'maxItems' && isFlatOrder(body)) {
    return { ...error, message: `must be an array of pairs: write ${FIELDS['order_by'] ?? ''}` }
  }
  const instead = explainFilterForm(error, body)
  if (instead !== undefined) return { ...error, message: instead }
  if (type !== 'array' && type !== 'object') return error
  const example = findExample(field)
  return example === undefined ? error : { ...error, message: `${message}, such as ${example}` }
}

/** A place of `type` or `field` in a filter, such as `filters.0.filters.1.type`. */
const FORM_MEMBER = /^filters\.\d+(?:\.filters\.\d+)*\.(?<member>type|field|property)$/

/** Says how a filter names what it compares, where its `type` or `field` is missing, unknown or too much. */
function explainFilterForm(
  { field, keyword, message }: KeywordError,
  body: unknown,
): string | undefined {
  const member = FORM_MEMBER.exec(field)?.groups?.['member']
  if (member === undefined) return undefined
  if (keyword === 'additionalProperties') {
    return 'is one member too many: a filter has exactly one of field, property and type'
  }
  if (keyword === 'required') return `${message}, or a field, such as ${FIELD_FILTER}`
  const value = readPath(body, field)
  if (keyword !== 'enum' || typeof value !== 'string') return undefined
  if (value.startsWith(PROPERTY_PREFIX)) {
    return `${message}; a property is named by {"property":${JSON.stringify(value.slice(PROPERTY_PREFIX.length))}}`
  }
  const fields = findFields(value).map((name) => `"field":"${name}"`)
  return fields.length === 0 ? undefined : `${message}; instead, write ${fields.join(' or ')}`
}

const FIELD_FILTER = '{"field":"country","operator":"is","value":["DE"]}'

/** Lists the fields that have a name, in a grouping or in a typed filter: `device`, `location.country` and `country` are such. */
const findFields = (name: string): readonly string[] =>
  FILTER_FIELD_NAMES.filter((field) => {
    const { type, member } = FILTER_FIELDS[field]
    return [field, type, member, `${type}.${String(member)}`].includes(name)
  })

/** Returns the value at a path such as `filters.0.type`. */
const readPath = (body: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? (value as Readonly<Record<string, unknown>>)[key]
          : undefined,
      body,
    )

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
