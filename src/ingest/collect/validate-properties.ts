/** Checks the properties of an event: whatever is in them must survive the way to a query. */
import { isText, NOT_TEXT } from '../../lib/text.js'

/** A fault, with its field below the event. */
export interface FieldError {
  readonly field: string
  readonly message: string
}

/** Far less than readers of JSON can take, far more than anybody nests. */
const DEEPEST = 100
const LONGEST_NAME = 128

const TOO_DEEP = `must be nested at most ${DEEPEST} deep`
const TOO_LARGE = 'must hold no number beyond ±9007199254740991; send it as a string'
const BAD_NAME = 'names must have 1 to 128 characters'

/** The faults of properties that are not too many: of their names, and of what each value holds. */
export function validateProperties(properties: object): readonly FieldError[] {
  const faults: FieldError[] = []
  for (const [name, value] of Object.entries(properties)) {
    const message = faultOfName(name)
    if (message !== undefined) faults.push({ field: 'properties', message })
    const fault = faultOf(value, 1)
    if (fault !== undefined) faults.push({ field: `properties.${name}`, message: fault })
  }
  return faults
}

function faultOfName(name: string): string | undefined {
  if (name === '') return BAD_NAME
  if (name.length > LONGEST_NAME && Array.from(name).length > LONGEST_NAME) return BAD_NAME
  return isText(name) ? undefined : `names ${NOT_TEXT}`
}

function faultOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return isText(value) ? undefined : NOT_TEXT
  if (typeof value === 'number') {
    return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? undefined : TOO_LARGE
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === DEEPEST) return TOO_DEEP
  for (const [name, inner] of Object.entries(value)) {
    const fault = isText(name) ? faultOf(inner, depth + 1) : NOT_TEXT
    if (fault !== undefined) return fault
  }
  return undefined
}
