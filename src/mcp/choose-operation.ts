/** Decides which operation a call runs, and refuses arguments that the operation itself does not check. */
import { buildErrorBody, createValidationError, ERROR_STATUS } from '../contract/errors.js'
import type { ToolOutcome } from './call-result.js'
import type { ToolDefinition, ToolOperation } from './tools.js'

type Arguments = Readonly<Record<string, unknown>>

/** A call that can be run. @property body undefined if the operation has none */
interface ChosenOperation {
  readonly operation: ToolOperation
  readonly body: Arguments | undefined
}

/** Returns the operation of a call and its body, or the outcome of a call that is refused. */
export function chooseOperation(
  { name, method, path, choices, hasParameters }: ToolDefinition,
  given: Arguments,
): { readonly chosen: ChosenOperation } | { readonly refused: ToolOutcome } {
  if (choices !== undefined) return choose(choices, given)
  if (hasParameters === true) return fillIn({ name, path }, given)
  if (method === 'post') return { chosen: { operation: { name, path }, body: given } }
  const fields = Object.keys(given)
  return fields.length === 0
    ? { chosen: { operation: { name, path }, body: undefined } }
    : { refused: refuse(fields, 'is not a known property') }
}

/** Fills parameters into the path, and the others into its query string. */
function fillIn(
  { name, path }: ToolOperation,
  given: Arguments,
): ReturnType<typeof chooseOperation> {
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, place = '']) => place)
  const missing = places.filter((place) => !Object.hasOwn(given, place))
  if (missing.length > 0) return { refused: refuse(missing, 'is required') }
  const filled = places.reduce(
    (text, place) => text.replace(`{${place}}`, encodeURIComponent(String(given[place]))),
    path,
  )
  const others = Object.entries(given).filter(([parameter]) => !places.includes(parameter))
  const query = new URLSearchParams(
    others.map(([parameter, value]): [string, string] => [parameter, String(value)]),
  )
  const target = others.length === 0 ? filled : `${filled}?${query.toString()}`
  return { chosen: { operation: { name, path: target, parameters: given }, body: undefined } }
}

function choose(
  choices: Readonly<Record<string, ToolOperation>>,
  { operation: name = Object.keys(choices)[0], ...body }: Arguments,
): ReturnType<typeof chooseOperation> {
  const operation =
    typeof name === 'string' && Object.hasOwn(choices, name) ? choices[name] : undefined
  return operation === undefined
    ? { refused: refuse(['operation'], `must be one of: ${Object.keys(choices).join(', ')}`) }
    : { chosen: { operation, body } }
}

function refuse(fields: readonly string[], message: string): ToolOutcome {
  const error = createValidationError(fields.map((field) => ({ field, message })))
  return { status: ERROR_STATUS[error.code], body: buildErrorBody(error) }
}
