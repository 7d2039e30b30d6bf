/** Validates the properties of an event: names and values must survive storage and come back in queries. */
import { isText, NOT_TEXT } from '../../lib/text.js'
import { EVENT_LIMITS, LIMIT_MESSAGES } from '../../model/event-fields.js'

/** An error of a field. */
export interface FieldError {
  /** The path of the field within the event. */
  readonly field: string
  readonly message: string
}

const { maxPropertyDepth, maxPropertyNameLength } = EVENT_LIMITS

const TOO_DEEP = `must be nested at most ${maxPropertyDepth} deep`
const TOO_LARGE = `must hold no number beyond ±${Number.MAX_SAFE_INTEGER}; send it as a string`

/** Returns the errors of property names and values; does not check how many properties there are. */
export function validateProperties(properties: object): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(properties)) {
    const nameError = validateName(name)
    if (nameError !== undefined) errors.push({ field: 'properties', message: nameError })
    const valueError = validateValue(value, 1)
    if (valueError !== undefined) errors.push({ field: `properties.${name}`, message: valueError })
  }
  return errors
}

function validateName(name: string): string | undefined {
  if (name === '') return LIMIT_MESSAGES.propertyNameLength
  // Characters are code points; counting them is needed only if there are more UTF-16 units than allowed.
  const mayBeTooLong = name.length > maxPropertyNameLength
  if (mayBeTooLong && Array.from(name).length > maxPropertyNameLength)
    return LIMIT_MESSAGES.propertyNameLength
  return isText(name) ? undefined : `names ${NOT_TEXT}`
}

function validateValue(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return isText(value) ? undefined : NOT_TEXT
  if (typeof value === 'number') {
    return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? undefined : TOO_LARGE
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === maxPropertyDepth) return TOO_DEEP
  for (const [name, inner] of Object.entries(value)) {
    const error = isText(name) ? validateValue(inner, depth + 1) : NOT_TEXT
    if (error !== undefined) return error
  }
  return undefined
}
