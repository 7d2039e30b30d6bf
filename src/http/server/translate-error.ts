/** Converts anything that a handler or the body parser threw into an `ApiError`. */
import { isUtf8 } from 'node:buffer'
import type { ErrorCode } from '../../contract/api.js'
import { ApiError, createValidationError } from '../../contract/errors.js'
import { describeJsonError } from '../../lib/json-error.js'
import { createBodyTooLargeError, QUERY_TYPES, createMediaTypeError } from './body.js'

const unsupported = (cause: unknown): ApiError => createMediaTypeError(QUERY_TYPES, cause)

/** The errors of Express's body parser, by their `type`. */
const BODY_PARSER_ERRORS: ReadonlyMap<unknown, (cause: unknown) => ApiError> = new Map([
  [
    'entity.too.large',
    (cause) => createBodyTooLargeError(Number(Reflect.get(Object(cause), 'limit')), cause),
  ],
  ['encoding.unsupported', unsupported],
  ['charset.unsupported', unsupported],
  [
    'entity.parse.failed',
    (cause) => createNotJsonObjectError(String(Reflect.get(Object(cause), 'body')), cause),
  ],
  ['request.aborted', createErrorFactory('VALIDATION_ERROR', 'The request body is incomplete.')],
  [
    'request.size.invalid',
    createErrorFactory('VALIDATION_ERROR', 'The request body is incomplete.'),
  ],
])

function createErrorFactory(code: ErrorCode, message: string) {
  return (cause?: unknown): ApiError => new ApiError(code, message, { cause })
}

/** @throws ApiError VALIDATION_ERROR for a body that is not UTF-8; its text would differ from what the client sent */
export function requireUtf8(body: Buffer): void {
  if (isUtf8(body)) return
  throw createValidationError([{ field: 'body', message: 'is not valid UTF-8' }])
}

/** Creates the error for a body that is not JSON, or not an object. It says where the JSON breaks, and quotes nothing. */
export const createNotJsonObjectError = (body: string, cause?: unknown): ApiError =>
  createValidationError(
    [{ field: 'body', message: describeJsonError(body) ?? 'must be a JSON object' }],
    cause,
  )

/** Returns the error to respond with. An unexpected one becomes INTERNAL_ERROR and is kept as its cause. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  // A path with an escape that is no UTF-8, such as %ff.
  if (error instanceof URIError) return new ApiError('NOT_FOUND', 'There is nothing at this path.')
  const type: unknown = error instanceof Error ? Reflect.get(error, 'type') : undefined
  const translate = BODY_PARSER_ERRORS.get(type)
  if (translate !== undefined) return translate(error)
  return new ApiError('INTERNAL_ERROR', 'Something went wrong.', { cause: error })
}
