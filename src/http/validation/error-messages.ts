/** Puts what the validator says of a field into plain words. */
import { FORMATS } from '../../contract/formats.js'

type Wording = (message: string) => string

/** A limit of a size, of 1 or more: "at most 1 item", "at least 2 items". */
const size =
  (bound: string, unit: string): Wording =>
  (message) => {
    const limit = firstNumber(message)
    return `must have ${bound} ${limit} ${unit}${limit === '1' ? '' : 's'}`
  }

/** Of "must be string,null": that it may be null, as good as absent, needs not be told. */
const firstType = (message: string): string =>
  message.slice('must be '.length).replace(/,null$/, '')

const firstNumber = (message: string): string => /-?\d+/.exec(message)?.[0] ?? ''

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
}

/** By keyword of JSON Schema: from the words of the validator to ours. */
const WORDING: ReadonlyMap<string, Wording> = new Map<string, Wording>([
  ['required', () => 'is required'],
  ['additionalProperties', () => 'is not a known property'],
  ['uniqueItems', () => 'must not repeat an item'],
  ['type', (message) => `must be ${TYPES[firstType(message)] ?? 'of another type'}`],
  ['enum', (message) => `must be one of: ${message.slice(message.indexOf(': ') + 2)}`],
  ['minimum', (message) => `must be at least ${firstNumber(message)}`],
  ['maximum', (message) => `must be at most ${firstNumber(message)}`],
  ['minItems', size('at least', 'item')],
  ['maxItems', size('at most', 'item')],
  ['items', size('at most', 'item')],
  ['maxProperties', (message) => `must have at most ${firstNumber(message)} entries`],
  ['minLength', size('at least', 'character')],
  ['maxLength', size('at most', 'character')],
  ['format', (message) => FORMATS[/"(.+)"/.exec(message)?.[1] ?? '']?.message ?? message],
])

/** The fault that the validator found by `keyword`, in plain words. */
export const inWords = (keyword: string, message: string): string =>
  WORDING.get(keyword)?.(message) ?? message
