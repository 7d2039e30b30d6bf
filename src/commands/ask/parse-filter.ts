/**
 * Parses a filter of the command line: JSON as in the contract, or `field operator values`, such as `country is DE,FR`, which
 * `visit with` or `visit without` makes one of whole visits.
 */
import { UserError } from '../../lib/errors.js'

type Clause = Readonly<Record<string, unknown>>

interface Operator {
  /** The operator of a text; its values are joined by `joiner`. */
  readonly text: string
  readonly joiner: 'and' | 'or'
  /** The operator of a list; absent if lists do not have it. */
  readonly list?: string
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

interface Field {
  readonly kind: 'text' | 'list'
  /** Builds the filter with a clause. */
  readonly build: (clause: Clause) => object
}

const ofMember = (kind: Field['kind'], type: string, member: string): Field => ({
  kind,
  build: (clause) => ({ type, [member]: clause }),
})
const ofSelf = (kind: Field['kind'], type: string): Field => ({
  kind,
  build: (clause) => ({ type, ...clause }),
})

/** The fields by the names that groupings have. */
const FIELDS: Readonly<Record<string, Field>> = {
  country: ofMember('list', 'location', 'country'),
  city: ofMember('list', 'location', 'city'),
  region: ofSelf('list', 'region'),
  language: ofSelf('list', 'language'),
  'page:origin': ofMember('text', 'page', 'origin'),
  'page:path': ofMember('text', 'page', 'path'),
  'page:hash': ofMember('text', 'page', 'hash'),
  'page:entry': ofSelf('text', 'entry_page'),
  'page:exit': ofSelf('text', 'exit_page'),
  browser: ofSelf('list', 'browser'),
  device_type: ofSelf('list', 'device'),
  os: ofSelf('list', 'os'),
  referrer: ofSelf('text', 'referrer'),
  referrer_url: ofSelf('text', 'referrer_url'),
  referrer_type: ofSelf('list', 'referrer_type'),
  channel: ofSelf('list', 'channel'),
  utm_source: ofMember('text', 'utm_tags', 'utm_source'),
  utm_medium: ofMember('text', 'utm_tags', 'utm_medium'),
  utm_campaign: ofMember('text', 'utm_tags', 'utm_campaign'),
  utm_content: ofMember('text', 'utm_tags', 'utm_content'),
  utm_term: ofMember('text', 'utm_tags', 'utm_term'),
  'event:name': ofMember('text', 'event', 'name'),
}

const PROPERTY = 'event:prop:'

/** Finds a field by the name of its grouping; undefined if there is none. */
function findField(name: string): Field | undefined {
  if (Object.hasOwn(FIELDS, name)) return FIELDS[name]
  const property = name.slice(PROPERTY.length)
  if (!name.startsWith(PROPERTY) || property === '') return undefined
  return {
    kind: 'text',
    build: (clause) => ({ type: 'event', properties: [{ property, ...clause }] }),
  }
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
  const known = findField(field)
  if (known === undefined) {
    const names = [...Object.keys(FIELDS), `${PROPERTY}NAME`].join(', ')
    throw new UserError(`the field of a filter must be one of: ${names}; other filters are JSON`)
  }
  return buildFilter(
    known,
    field,
    operator,
    values.split(',').map((value) => value.trim()),
  )
}

function buildFilter(
  { kind, build }: Field,
  name: string,
  operator: Operator,
  values: readonly string[],
): object {
  if (kind === 'list') {
    if (operator.list === undefined)
      throw new UserError(`${name} can be compared by "is" and "is not" only`)
    return build({ operator: operator.list, value: values })
  }
  const [first, ...others] = values.map((value) => build({ operator: operator.text, value }))
  if (first === undefined || others.length === 0) return first ?? {}
  return { type: 'group', operator: operator.joiner, filters: [first, ...others] }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new UserError('a filter that begins with { must be JSON')
  }
}
