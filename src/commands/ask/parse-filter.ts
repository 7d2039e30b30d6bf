/**
 * Parses a filter of the command line: JSON as in the contract, or `field operator values`, such as `country is DE,FR`, which
 * `visit with` or `visit without` makes one of whole visits.
 */
import type { Filter, ListOperator, StringOperator } from '../../contract/api.js'
import {
  buildFieldFilter,
  FILTER_FIELD_NAMES,
  findClauseKind,
  joinFilters,
  PROPERTY_PREFIX,
} from '../../contract/filter-fields.js'
import { UserError } from '../../lib/errors.js'

interface Operator {
  /** The operator of a text; its values are joined by `joiner`. */
  readonly text: StringOperator
  readonly joiner: 'and' | 'or'
  /** The operator of a list; absent if lists do not have it. */
  readonly list?: ListOperator
}

/** The operators by their words. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  is: { text: 'eq', joiner: 'or', list: 'oneOf' },
  'is not': { text: 'notEq', joiner: 'and', list: 'noneOf' },
  contains: { text: 'contains', joiner: 'or' },
  'does not contain': { text: 'notContains', joiner: 'and' },
  'starts with': { text: 'startsWith', joiner: 'or' },
  'ends with': { text: 'endsWith', joiner: 'or' },
  matches: { text: 'matches', joiner: 'or' },
  'does not match': { text: 'notMatches', joiner: 'and' },
}

const WORDS = Object.keys(OPERATORS).sort((one, other) => other.length - one.length)
const FORM = new RegExp(
  `^(?<field>\\S+)\\s+(?<words>${WORDS.join('|')})(?:\\s+(?<values>.*))?$`,
  's',
)

const VISIT = /^visit (?<word>with|without)\s+(?<rest>.+)$/s

/**
 * Parses a filter. Values are separated by commas; JSON can have any value.
 *
 * @throws UserError that says what is wrong
 */
export function parseFilter(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed.startsWith('{')) return parseJson(trimmed)
  const { word, rest } = VISIT.exec(trimmed)?.groups ?? {}
  if (rest !== undefined) {
    const visit = { type: 'visit', filters: [parseFilter(rest)] }
    return word === 'with' ? visit : { type: 'group', operator: 'not', filters: [visit] }
  }
  const { field = '', words = '', values = '' } = FORM.exec(trimmed)?.groups ?? {}
  const operator = OPERATORS[words]
  if (operator === undefined) {
    throw new UserError(
      `a filter is JSON, or a field, an operator and values: country is DE,FR (operators: ${Object.keys(OPERATORS).join(', ')})`,
    )
  }
  if (findClauseKind(field) === undefined) {
    const names = [...FILTER_FIELD_NAMES, `${PROPERTY_PREFIX}NAME`].join(', ')
    throw new UserError(`the field of a filter must be one of: ${names}; other filters are JSON`)
  }
  return buildFilter(
    field,
    operator,
    values.split(',').map((value) => value.trim()),
  )
}

function buildFilter(field: string, operator: Operator, values: readonly string[]): Filter {
  if (findClauseKind(field) === 'list') {
    if (operator.list === undefined)
      throw new UserError(`${field} can be compared by "is" and "is not" only`)
    return buildFieldFilter(field, { operator: operator.list, value: values })
  }
  const filters = values.map((value) => buildFieldFilter(field, { operator: operator.text, value }))
  return joinFilters(operator.joiner, filters)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new UserError('a filter that begins with { must be JSON')
  }
}
