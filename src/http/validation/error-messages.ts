/** Translates the errors of express-openapi-validator, which are Ajv's, into field errors of the API. */
import * as OpenApiValidator from 'express-openapi-validator'
import type { FieldError } from '../../contract/api.js'
import { FORMATS } from '../../contract/formats.js'
import { addHint } from './hints.js'
import { mergeUnionErrors, type KeywordError, type UnionMessages } from './union-errors.js'

/** One error, as the validator reports it. */
interface ValidatorError {
  /** A JSON pointer, such as `/body/filters/0/operator`. */
  readonly path: string
  readonly message: string
  /** The JSON Schema keyword that failed, with a suffix: `type.openapi.validation`. */
  readonly errorCode?: string
}

/** The errors of a request. */
export interface RequestErrors {
  /** One entry per field and message. */
  readonly errors: readonly FieldError[]
  /** The top-level fields of the body that violate their own schemas. */
  readonly invalidFields: ReadonlySet<string>
  /** Whether the errors concern the query string. The validator has not looked at the body then. */
  readonly inQueryString: boolean
}

/** Returns the errors of a request; undefined if `error` is unexpected, not about the request. */
export function describeErrors(
  error: unknown,
  body: unknown,
  unions: UnionMessages = {},
): RequestErrors | undefined {
  if (!(error instanceof OpenApiValidator.error.BadRequest)) return undefined
  const reported: readonly ValidatorError[] = error.errors
  const parameters = reported
    .filter(({ path }) => path.startsWith(QUERY_STRING))
    .map(({ path }) => path.slice(QUERY_STRING.length))
  if (parameters.length === 0) {
    const errors = describeBody(reported, body, unions)
    return { errors, invalidFields: listInvalidFields(reported), inQueryString: false }
  }
  const message = 'is not a known query parameter'
  const errors = parameters.map((field) => ({ field, message }))
  return { errors, invalidFields: new Set(), inQueryString: true }
}

const QUERY_STRING = '/query/'

function describeBody(
  reported: readonly ValidatorError[],
  body: unknown,
  unions: UnionMessages,
): readonly FieldError[] {
  const errors = reported
    .map((error) => toKeywordError(error, body))
    // An `if` error only repeats that its `then` failed.
    .filter(({ keyword }) => keyword !== 'if')
    .map((error) => addHint(error, body))
  const distinct = new Map(
    mergeUnionErrors(errors, unions).map(({ field, message }) => [
      `${field}\n${message}`,
      { field, message },
    ]),
  )
  return [...distinct.values()]
}

const listInvalidFields = (reported: readonly ValidatorError[]): ReadonlySet<string> =>
  new Set(
    reported
      // An unknown property may be named like the path of a field, such as `limit/0`.
      .filter((error) => getKeyword(error) !== 'additionalProperties')
      .map(({ path }) => path.split('/')[2] ?? ''),
  )

const getKeyword = ({ errorCode = '' }: ValidatorError): string => errorCode.split('.', 1)[0] ?? ''

function toKeywordError(error: ValidatorError, body: unknown): KeywordError {
  const { path, message } = error
  const keyword = getKeyword(error)
  const pointer = path.split('/').slice(2)
  if (keyword === 'type' && pointer.length === 0) {
    return { field: 'body', message: 'must be a JSON object', keyword }
  }
  const names = keyword === 'additionalProperties' ? locateUnknown(pointer, body) : pointer
  return {
    field: names.length === 0 ? 'body' : names.join('.'),
    message: MESSAGES.get(keyword)?.(message) ?? message,
    keyword,
  }
}

/**
 * Returns the path of an unknown property. The validator appends the property's name to the path unescaped, slashes
 * included, and omits an empty name.
 */
function locateUnknown(pointer: readonly string[], body: unknown): readonly string[] {
  const whole = pointer.reduce(getOwn, body)
  if (isObject(whole) && Object.hasOwn(whole, '')) return [...pointer, '']
  let owner = body
  for (const [depth, part] of pointer.entries()) {
    const name = pointer.slice(depth).join('/')
    if (!isObject(owner) || Object.hasOwn(owner, name)) return [...pointer.slice(0, depth), name]
    owner = getOwn(owner, part)
  }
  return pointer
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const getOwn = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined

type Translate = (message: string) => string

/** Creates the message for a limit on a count, from 1: "must have at most 1 item", "must have at least 2 items". */
const describeCount =
  (bound: string, unit: string): Translate =>
  (message) => {
    const limit = findNumber(message)
    return `must have ${bound} ${limit} ${unit}${limit === '1' ? '' : 's'}`
  }

const findNumber = (message: string): string => /-?\d+/.exec(message)?.[0] ?? ''

/** Returns the type in "must be string,null". It omits null, which means the same as an absent field. */
const findType = (message: string): string => message.slice('must be '.length).replace(/,null$/, '')

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
}

/** Translates Ajv's messages to the API's, by JSON Schema keyword. */
const MESSAGES: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ['required', () => 'is required'],
  ['additionalProperties', () => 'is not a known property'],
  ['uniqueItems', () => 'must not contain duplicate items'],
  ['type', (message) => `must be ${TYPES[findType(message)] ?? 'of another type'}`],
  ['enum', (message) => `must be one of: ${message.slice(message.indexOf(': ') + 2)}`],
  ['minimum', (message) => `must be at least ${findNumber(message)}`],
  ['maximum', (message) => `must be at most ${findNumber(message)}`],
  ['minItems', describeCount('at least', 'item')],
  ['maxItems', describeCount('at most', 'item')],
  ['items', describeCount('at most', 'item')],
  ['maxProperties', (message) => `must have at most ${findNumber(message)} entries`],
  ['minLength', describeCount('at least', 'character')],
  ['maxLength', describeCount('at most', 'character')],
  ['format', (message) => FORMATS[/"(.+)"/.exec(message)?.[1] ?? '']?.message ?? message],
])
