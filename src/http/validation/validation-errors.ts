/** Translates the errors of express-openapi-validator, which are Ajv's, into field errors of the API. */
import * as OpenApiValidator from 'express-openapi-validator'
import type { FieldError } from '../../contract/api.js'
import { FORMATS } from '../../contract/formats.js'
import { mergeUnionErrors, type KeywordError, type UnionMessages } from './union-errors.js'

/** One error as the validator reports it. */
interface ValidatorError {
  /** A JSON pointer, such as `/body/filters/0/operator`. */
  readonly path: string
  readonly message: string
  /** The JSON Schema keyword that failed, with a suffix. */
  readonly errorCode?: string
}

/** What is wrong with a request. */
export interface RequestErrors {
  /** One entry per field and message. */
  readonly errors: readonly FieldError[]
  /** The top-level fields of the body that are not valid in themselves. */
  readonly invalidFields: ReadonlySet<string>
  /** Whether the errors concern the query string; the body has not been looked at then. */
  readonly inQueryString: boolean
}

/** The errors of a request; undefined if `error` is not about the request but unexpected. */
export function describeErrors(
  error: unknown,
  body: unknown,
  unions: UnionMessages = {},
): RequestErrors | undefined {
  if (!(error instanceof OpenApiValidator.error.BadRequest)) return undefined
  const reported: readonly ValidatorError[] = error.errors
  const parameters = describeParameters(reported)
  return {
    errors: parameters.length > 0 ? parameters : describeBody(reported, body, unions),
    invalidFields: listInvalidFields(reported),
    inQueryString: parameters.length > 0,
  }
}

const QUERY_STRING = '/query/'

const describeParameters = (reported: readonly ValidatorError[]): readonly FieldError[] =>
  reported
    .filter(({ path }) => path.startsWith(QUERY_STRING))
    .map(({ path }) => ({
      field: path.slice(QUERY_STRING.length),
      message: 'is not a known query parameter',
    }))

function describeBody(
  reported: readonly ValidatorError[],
  body: unknown,
  unions: UnionMessages,
): readonly FieldError[] {
  const errors = reported
    .map((error) => toKeywordError(error, body))
    // `if` only repeats that its `then` failed.
    .filter(({ keyword }) => keyword !== 'if')
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
      // An unknown property may be named like a path, `limit.0`.
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
 * The path of an unknown property. The validator appends the property's name to the path unescaped, slashes
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

/** A limit on a count, of 1 or more: "at most 1 item", "at least 2 items". */
const count =
  (bound: string, unit: string): Translate =>
  (message) => {
    const limit = findNumber(message)
    return `must have ${bound} ${limit} ${unit}${limit === '1' ? '' : 's'}`
  }

const findNumber = (message: string): string => /-?\d+/.exec(message)?.[0] ?? ''

/** The type in "must be string,null"; null need not be mentioned, as it means the same as leaving the field out. */
const findType = (message: string): string => message.slice('must be '.length).replace(/,null$/, '')

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
}

/** From Ajv's message to the API's, by JSON Schema keyword. */
const MESSAGES: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ['required', () => 'is required'],
  ['additionalProperties', () => 'is not a known property'],
  ['uniqueItems', () => 'must not contain duplicate items'],
  ['type', (message) => `must be ${TYPES[findType(message)] ?? 'of another type'}`],
  ['enum', (message) => `must be one of: ${message.slice(message.indexOf(': ') + 2)}`],
  ['minimum', (message) => `must be at least ${findNumber(message)}`],
  ['maximum', (message) => `must be at most ${findNumber(message)}`],
  ['minItems', count('at least', 'item')],
  ['maxItems', count('at most', 'item')],
  ['items', count('at most', 'item')],
  ['maxProperties', (message) => `must have at most ${findNumber(message)} entries`],
  ['minLength', count('at least', 'character')],
  ['maxLength', count('at most', 'character')],
  ['format', (message) => FORMATS[/"(.+)"/.exec(message)?.[1] ?? '']?.message ?? message],
])
