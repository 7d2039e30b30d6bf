/** Turns the faults that the validator reports of a body into those that the caller is told. */
import type { FieldFault } from '../../contract/api.js'
import {
  isOfKnown,
  settleChoices,
  settleEnums,
  type ChoiceHints,
  type Fault,
} from './union-errors.js'
import { inWords } from './error-messages.js'

/** One fault as the validator reports it. */
export interface RawFault {
  /** A JSON pointer, such as `/body/filters/0/operator`. */
  readonly path: string
  readonly message: string
  /** The keyword of JSON Schema that failed, with a suffix. */
  readonly errorCode?: string
}

/** The faults of `body`, each field and message once, in plain words. */
export function describeFaults(
  raw: readonly RawFault[],
  body: unknown,
  hints: ChoiceHints,
): readonly FieldFault[] {
  const known = raw.map((fault) => toFault(fault, body)).filter(({ keyword }) => keyword !== 'if')
  const faults = settleChoices(settleEnums(known), hints)
  const distinct = new Map(
    faults.map(({ field, message }) => [`${field}\n${message}`, { field, message }]),
  )
  return [...distinct.values()]
}

/** The fields of a body that are not as the contract wants them. */
export const faultyFields = (raw: readonly RawFault[]): ReadonlySet<string> =>
  new Set(
    raw
      .filter((fault) => isOfKnown({ keyword: keywordOf(fault) }))
      .map(({ path }) => path.split('/')[2] ?? ''),
  )

const keywordOf = ({ errorCode = '' }: RawFault): string => errorCode.split('.', 1)[0] ?? ''

function toFault(raw: RawFault, body: unknown): Fault {
  const { path, message } = raw
  const keyword = keywordOf(raw)
  const pointer = path.split('/').slice(2)
  if (keyword === 'type' && pointer.length === 0) {
    return { field: 'body', message: 'must be a JSON object', keyword }
  }
  const known = keyword === 'additionalProperties' ? ownerOf(pointer, body) : pointer
  return { field: fieldOf(known), message: inWords(keyword, message), keyword }
}

const fieldOf = (pointer: readonly string[]): string =>
  pointer.length === 0 ? 'body' : pointer.join('.')

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function valueAt(body: unknown, pointer: readonly string[]): unknown {
  return pointer.reduce<unknown>(
    (value, name) =>
      isObject(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined,
    body,
  )
}

/**
 * Where an unknown property is: the validator joins its name to the path as it is, and leaves out
 * an empty one.
 */
function ownerOf(pointer: readonly string[], body: unknown): readonly string[] {
  const whole = valueAt(body, pointer)
  if (isObject(whole) && Object.hasOwn(whole, '')) return [...pointer, '']
  let owner = body
  for (const [depth, part] of pointer.entries()) {
    const name = pointer.slice(depth).join('/')
    if (!isObject(owner) || Object.hasOwn(owner, name)) return [...pointer.slice(0, depth), name]
    owner = valueAt(owner, [part])
  }
  return pointer
}
