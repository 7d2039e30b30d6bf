/** Turns what the validator, the body parser or a handler threw into an error of the catalogue. */
import * as OpenApiValidator from 'express-openapi-validator'
import type { ErrorCode, FieldFault } from '../../contract/api.js'
import { ApiError } from '../../contract/errors.js'
import { QUESTION_TYPES, unsupportedMediaType } from '../validation/content-type.js'

const { NotFound, MethodNotAllowed, UnsupportedMediaType } = OpenApiValidator.error

/** The most faults of one request that are listed. */
const MOST_DETAILS = 100

const MB = 1_048_576

/** The error of a body of more than `limit` bytes. */
export function bodyTooLarge(limit: number, cause?: unknown): ApiError {
  const size = limit < MB ? `${limit / 1_024} kB` : `${limit / MB} MB`
  return new ApiError('PAYLOAD_TOO_LARGE', `The request body is larger than ${size}.`, { cause })
}

const unsupported = (cause: unknown): ApiError => unsupportedMediaType(QUESTION_TYPES, cause)

/** By the `type` of the body parser's errors: what the caller is told. */
const BODY_ERRORS: ReadonlyMap<unknown, (cause: unknown) => ApiError> = new Map([
  ['entity.too.large', (cause) => bodyTooLarge(Number(Reflect.get(Object(cause), 'limit')), cause)],
  ['encoding.unsupported', unsupported],
  ['charset.unsupported', unsupported],
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
  if (error instanceof UnsupportedMediaType) return unsupported(error)
  const type: unknown = error instanceof Error ? Reflect.get(error, 'type') : undefined
  const known = BODY_ERRORS.get(type)
  if (known !== undefined) return known(error)
  return new ApiError('INTERNAL_ERROR', 'Something went wrong.', { cause: error })
}
