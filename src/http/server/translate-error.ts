/** Turns whatever a handler threw, the body parser included, into an error of the catalogue. */
import type { ErrorCode, FieldError } from '../../contract/api.js'
import { ApiError } from '../../contract/errors.js'
import { bodyTooLarge, QUERY_TYPES, unsupportedMediaType } from './body.js'

/** The maximum number of field errors that a response lists. */
const MAX_DETAILS = 100

const unsupported = (cause: unknown): ApiError => unsupportedMediaType(QUERY_TYPES, cause)

/** The errors of Express's body parser, by their `type`. */
const BODY_PARSER_ERRORS: ReadonlyMap<unknown, (cause: unknown) => ApiError> = new Map([
  ['entity.too.large', (cause) => bodyTooLarge(Number(Reflect.get(Object(cause), 'limit')), cause)],
  ['encoding.unsupported', unsupported],
  ['charset.unsupported', unsupported],
  ['entity.parse.failed', (cause: unknown) => notJsonObject(cause)],
  ['request.aborted', becauseOf('VALIDATION_ERROR', 'The request body is incomplete.')],
  ['request.size.invalid', becauseOf('VALIDATION_ERROR', 'The request body is incomplete.')],
])

function becauseOf(code: ErrorCode, message: string) {
  return (cause?: unknown): ApiError => new ApiError(code, message, { cause })
}

/** The error for a request with invalid fields. Its message states the first of them. */
export function validationError(errors: readonly FieldError[], cause?: unknown): ApiError {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const message = first === undefined ? '' : `: ${first.field} ${first.message}${more}`
  return new ApiError('VALIDATION_ERROR', `The request is not valid${message}.`, {
    details: errors.slice(0, MAX_DETAILS),
    cause,
  })
}

/** The error for a body that is not a JSON object. */
export const notJsonObject = (cause?: unknown): ApiError =>
  validationError([{ field: 'body', message: 'must be a JSON object' }], cause)

/** The error to respond with. An unexpected one becomes INTERNAL_ERROR and is kept as the cause. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const type: unknown = error instanceof Error ? Reflect.get(error, 'type') : undefined
  const translate = BODY_PARSER_ERRORS.get(type)
  if (translate !== undefined) return translate(error)
  return new ApiError('INTERNAL_ERROR', 'Something went wrong.', { cause: error })
}
