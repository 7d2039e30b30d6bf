/** The error catalogue: the HTTP status of every code, and the one class that carries a code. */
import { ExpectedError } from '../lib/errors.js'
import type * as query from './api.js'
import type { ErrorResponse, FieldError } from './api.js'
import type * as management from './management-api.js'

/** A code of one of the contracts. */
export type ErrorCode = query.ErrorCode | management.ErrorCode

/** The HTTP status of each error code. */
export const ERROR_STATUS = {
  VALIDATION_ERROR: 400,
  UNAUTHORIZED: 401,
  INSUFFICIENT_SCOPE: 403,
  PLAN_LIMIT_EXCEEDED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  QUERY_TOO_EXPENSIVE: 422,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
  QUERY_TIMEOUT: 504,
} as const satisfies Record<ErrorCode, number>

/**
 * Headers of every response with a code: how to authenticate (RFC 9110 §11.6.1), and after how many seconds to try again
 * (§10.2.3).
 */
const DEFAULT_HEADERS: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, string>>>>> = {
  UNAUTHORIZED: { 'WWW-Authenticate': 'Bearer' },
  RATE_LIMIT_EXCEEDED: { 'Retry-After': '1' },
  SERVICE_UNAVAILABLE: { 'Retry-After': '1' },
}

/** The optional parts of an error. */
interface ApiErrorOptions {
  /** One error per invalid field; only with the code VALIDATION_ERROR. */
  readonly details?: readonly FieldError[]
  /** Headers to send with the response besides those of the code: Allow, Connection. */
  readonly headers?: Readonly<Record<string, string>>
  /** The underlying error. It is logged, never sent. */
  readonly cause?: unknown
}

/** An error with a code of the catalogue. Its message is sent to the client. */
export class ApiError extends ExpectedError {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly details: readonly FieldError[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string,
    { details, headers = {}, cause }: ApiErrorOptions = {},
  ) {
    super(message, { cause })
    this.code = code
    this.details = details
    this.headers = { ...DEFAULT_HEADERS[code], ...headers }
  }
}

/** The maximum number of field errors that a response lists. */
const MAX_DETAILS = 100

/** Creates the error for a request with invalid fields. Its message states the first of them. */
export function createValidationError(errors: readonly FieldError[], cause?: unknown): ApiError {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const message = first === undefined ? '' : `: ${first.field} ${first.message}${more}`
  return new ApiError('VALIDATION_ERROR', `The request is not valid${message}.`, {
    details: errors.slice(0, MAX_DETAILS),
    cause,
  })
}

/** Builds the body of the response to an error. It links to the part of the docs that says what to do. */
export function buildErrorBody({ code, message, details }: ApiError): ErrorResponse {
  return {
    error: {
      code,
      message,
      ...(details === undefined ? {} : { details: [...details] }),
      docs: `/docs/errors#${code.toLowerCase()}`,
    },
  }
}
