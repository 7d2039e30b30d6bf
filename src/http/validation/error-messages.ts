/** Translates the errors of Ajv into field errors of the API. */
import type { ErrorObject } from 'ajv/dist/2020.js'
import type { FieldError } from '../../contract/api.js'
import { FORMATS } from '../../contract/formats.js'
import { addHint } from './hints.js'
import { mergeUnionErrors, type KeywordError, type UnionMessages } from './union-errors.js'

/** The errors of a body. */
export interface BodyErrors {
  /** One entry per field and message. */
  readonly errors: readonly FieldError[]
  /** The top-level fields that violate their own schemas. */
  readonly invalidFields: ReadonlySet<string>
}

/** Describes the errors of a body. */
export function describeErrors(
  reported: readonly ErrorObject[],
  body: unknown,
  unions: UnionMessages,
): BodyErrors {
  // An `if` error only repeats that its `then` failed.
  const located = reported.filter(({ keyword }) => keyword !== 'if').map(locate)
  const described = located.map((error) => addHint(describe(error), body))
  const distinct = new Map(
    mergeUnionErrors(described, unions).map(({ field, message }) => [
      `${field}\n${message}`,
      { field, message },
    ]),
  )
  const invalid = located.filter(
    ({ path, keyword }) => path.length > 1 || keyword !== 'additionalProperties',
  )
  return {
    errors: [...distinct.values()],
    invalidFields: new Set(invalid.map(({ path: [name = ''] }) => name)),
  }
}

/** What an error of Ajv says, by its keyword. */
interface Facts {
  readonly missingProperty?: string
  readonly additionalProperty?: string
  readonly type?: string | readonly string[]
  readonly limit?: number
  readonly allowedValues?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
}

interface LocatedError {
  readonly path: readonly string[]
  readonly keyword: string
  readonly facts: Facts
  /** The message of Ajv. */
  readonly message: string
}

/** Finds the field that an error is about. A property that is missing or unknown is named by its object. */
function locate({ instancePath, keyword, params, message = '' }: ErrorObject): LocatedError {
  const facts: Facts = params
  const property = facts.missingProperty ?? facts.additionalProperty
  const path = instancePath.split('/').slice(1)
  return { path: property === undefined ? path : [...path, property], keyword, facts, message }
}

function describe({ path, keyword, facts, message }: LocatedError): KeywordError {
  if (path.length === 0 && keyword === 'type') {
    return { field: 'body', message: 'must be a JSON object', keyword }
  }
  return {
    field: joinPath(path),
    message: MESSAGES.get(keyword)?.(facts) ?? message,
    keyword,
    type: nameType(facts),
  }
}

/** Names a field by its path. One without a name inside of another has none that could be read. */
const joinPath = (path: readonly string[]): string =>
  path.length === 0 || (path.length > 1 && path.at(-1) === '') ? 'body' : path.join('.')

/** Returns the type that a value must have. Null means the same as an absent field. */
const nameType = ({ type = [] }: Facts): string =>
  [type]
    .flat()
    .filter((name) => name !== 'null')
    .join()

type Describe = (facts: Facts) => string | undefined

/** Creates the message for a limit on a count, from 1: "must have at most 1 item", "must have at least 2 items". */
const describeCount =
  (bound: string, unit: string): Describe =>
  ({ limit }) =>
    `must have ${bound} ${String(limit)} ${unit}${limit === 1 ? '' : 's'}`

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
}

/** What a text must be, by the pattern of the contract. */
const PATTERNS: Readonly<Record<string, string>> = {
  '^event:prop:[\\s\\S]{1,128}$': 'must be event:prop: followed by a name of 1 to 128 characters',
  '^[A-Za-z][A-Za-z0-9_]{0,63}$':
    'must be a letter followed by letters, digits or _, at most 64 characters',
}

/** The messages of the API, by JSON Schema keyword. Others are those of Ajv. */
const MESSAGES: ReadonlyMap<string, Describe> = new Map<string, Describe>([
  ['required', () => 'is required'],
  ['additionalProperties', () => 'is not a known property'],
  ['uniqueItems', () => 'must not contain duplicate items'],
  ['type', (facts) => `must be ${TYPES[nameType(facts)] ?? 'of another type'}`],
  ['enum', ({ allowedValues = [] }) => `must be one of: ${allowedValues.join(', ')}`],
  ['minimum', ({ limit }) => `must be at least ${String(limit)}`],
  ['maximum', ({ limit }) => `must be at most ${String(limit)}`],
  ['minItems', describeCount('at least', 'item')],
  ['maxItems', describeCount('at most', 'item')],
  ['items', describeCount('at most', 'item')],
  ['minProperties', describeCount('at least', 'member')],
  ['maxProperties', ({ limit }) => `must have at most ${String(limit)} entries`],
  ['minLength', describeCount('at least', 'character')],
  ['maxLength', describeCount('at most', 'character')],
  ['pattern', ({ pattern = '' }) => PATTERNS[pattern]],
  ['format', ({ format = '' }) => FORMATS[format]?.message],
])
