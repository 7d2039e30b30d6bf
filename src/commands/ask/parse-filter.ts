/**
 * Parses a filter of the command line: JSON as in the contract, or `field operator values`, such as `country is DE,FR`, which
 * `visit with` or `visit without` makes one of whole visits, or `segment is` and a name.
 */
import type { FilterOperator } from '../../contract/api.js'
import { nameCompared } from '../../contract/filter-fields.js'
import { UserError } from '../../lib/errors.js'

/** The operators by their words. */
const OPERATORS: Readonly<Record<string, FilterOperator>> = {
  is: 'is',
  'is not': 'is_not',
  contains: 'contains',
  'does not contain': 'contains_not',
  'starts with': 'starts_with',
  'ends with': 'ends_with',
  matches: 'matches',
  'does not match': 'matches_not',
  'is set': 'is_set',
}

const WORDS = Object.keys(OPERATORS).sort((one, other) => other.length - one.length)
const FORM = new RegExp(
  `^(?<field>\\S+)\\s+(?<words>${WORDS.join('|')})(?:\\s+(?<values>.*))?$`,
  's',
)

const SEGMENT = /^segment is (?<not>not )?(?<segment>\S+)$/
const VISIT = /^visit (?<word>with|without)\s+(?<rest>.+)$/s

/**
 * Parses a filter. Values are separated by commas; JSON can have any value. The service checks the field and the values.
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
  const { not, segment } = SEGMENT.exec(trimmed)?.groups ?? {}
  if (segment !== undefined) {
    const named = { type: 'segment', value: segment }
    return not === undefined ? named : { type: 'group', operator: 'not', filters: [named] }
  }
  const { field = '', words = '', values = '' } = FORM.exec(trimmed)?.groups ?? {}
  const operator = OPERATORS[words]
  if (operator === undefined) {
    throw new UserError(
      `a filter is JSON, or a field, an operator and values: country is DE,FR (operators: ${Object.keys(OPERATORS).join(', ')})`,
    )
  }
  const compared = { ...nameCompared(field), operator }
  if (operator === 'is_set') return compared
  return { ...compared, value: values.split(',').map((value) => value.trim()) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new UserError('a filter that begins with { must be JSON')
  }
}
