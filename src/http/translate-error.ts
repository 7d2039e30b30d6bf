/** Turns what the validator, the body parser or a handler threw into an error of the catalogue. */
import * as OpenApiValidator from 'express-openapi-validator'
import type { ErrorCode, FieldFault } from '../api.js'
import { ApiError } from '../errors.js'
import { unsupportedMediaType } from './content-type.js'

const { NotFound, MethodNotAllowed, UnsupportedMediaType } = OpenApiValidator.error

/** The most faults of one request that are listed. */
const MOST_DETAILS = 100

export const bodyTooLarge = because('PAYLOAD_TOO_LARGE', 'The request body is larger than 64 kB.')

/** By the `type` of the body parser's errors: what the caller is told. */
const BODY_ERRORS: ReadonlyMap<unknown, (cause: unknown) => ApiError> = new Map([
  ['entity.too.large', bodyTooLarge],
  ['encoding.unsupported', unsupportedMediaType],
  ['charset.unsupported', unsupportedMediaType],
  [
    'entity.parse.failed',
    (cause: unknown) =>
      validationError([{ field: 'body', message: 'must be a JSON object' }], cause),
  ],
  ['request.aborted', because('VALIDATION_ERROR', 'The request body was cut short.')],
  ['request.size.invalid', because('VALIDATION_ERROR', 'The request body was cut short.')],
])

function because(code: ErrorCode, message: string) {
  return (cause?: unknown): ApiError => new ApiError(code, message, { cause })
}

/** The error of a request with faults. Its message tells the first of them. */
export function validationError(faults: readonly FieldFault[], cause?: unknown): ApiError {
  const [first] = faults
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  const message = first === undefined ? '' : `: ${first.field} ${first.message}${more}`
  return new ApiError('VALIDATION_ERROR', `The request is not valid${message}.`, {
    details: faults.slice(0, MOST_DETAILS),
    cause,
  })
}

/** The error to answer with. What is not foreseen becomes INTERNAL_ERROR, with its cause kept. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof NotFound) {
    return new ApiError('NOT_FOUND', 'There is nothing at this path.')
  }
  if (error instanceof MethodNotAllowed) {
    const headers = Object.entries(error.headers ?? {})
    return new ApiError('METHOD_NOT_ALLOWED', 'This path does not take this method.', {
      headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
    })
  }
  if (error instanceof UnsupportedMediaType) return unsupportedMediaType(error)
  const type: unknown = error instanceof Error ? Reflect.get(error, 'type') : undefined
  const known = BODY_ERRORS.get(type)
  if (known !== undefined) return known(error)
  return new ApiError('INTERNAL_ERROR', 'Something went wrong.', { cause: error })
}
