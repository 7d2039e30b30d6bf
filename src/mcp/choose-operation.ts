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
  { name, method, path, choices }: ToolDefinition,
  given: Arguments,
): { readonly chosen: ChosenOperation } | { readonly refused: ToolOutcome } {
  if (choices !== undefined) return choose(choices, given)
  if (method === 'post') return { chosen: { operation: { name, path }, body: given } }
  const fields = Object.keys(given)
  return fields.length === 0
    ? { chosen: { operation: { name, path }, body: undefined } }
    : { refused: refuse(fields, 'is not a known property') }
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
