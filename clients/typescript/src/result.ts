/** Results of requests: data, or an error as a value. Only a bug of the caller throws. */
import type { ErrorCode, ErrorResponse, FieldError } from './contract.js'

/** Why a request has no data. */
export interface TallyhouseError {
  /** The HTTP status; 0 if there was no complete response. */
  readonly status: number
  /** A code of the contract; `NO_RESPONSE` if there was none, or one that is not of the service. A later version may add codes. */
  readonly code: ErrorCode | 'NO_RESPONSE' | (string & {})
  readonly message: string
  /** The invalid fields, with the code VALIDATION_ERROR. */
  readonly details: readonly FieldError[]
  /** The id of the request in the log of the service. */
  readonly requestId?: string
  /** The seconds after which to try again, if the service said so. */
  readonly retryAfter?: number
  /** The page of the service that says what to do, as a path of it. */
  readonly docs?: string
  /** What made the request fail without a response. */
  readonly cause?: unknown
}

export type Result<Data> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly error: TallyhouseError }

/** A response that ended too early, or that is not the one that was asked for. `cause` is what went wrong in the network. */
export class IncompleteResponseError extends Error {
  override readonly name = 'IncompleteResponseError'
}

/** Describes why there is no complete response. */
export function describeFailure(cause: unknown): TallyhouseError {
  return { status: 0, code: 'NO_RESPONSE', message: describeCause(cause), details: [], cause }
}

/** The message of an error. `fetch` only says that it failed; the message of its cause says why. */
function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  return error instanceof TypeError && cause instanceof Error && cause.message !== ''
    ? `${message}: ${cause.message}`
    : message
}

/** Describes a response that is no data: an error of the service, or what another server sent instead. */
export function describeError(text: string, response: Response): TallyhouseError {
  const { status, headers } = response
  const body = parseJson(text)
  const { code, message, details, docs }: ErrorResponse['error'] = isErrorResponse(body)
    ? body.error
    : { code: 'NO_RESPONSE', message: describeForeign(response) }
  const requestId = headers.get('x-request-id')
  const retryAfter = readRetryAfter(headers)
  return {
    status,
    code,
    message,
    details: details ?? [],
    ...(requestId === null ? {} : { requestId }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(docs === undefined ? {} : { docs }),
  }
}

function describeForeign({ status, statusText, headers }: Response): string {
  const type = headers.get('content-type')?.split(';')[0] ?? 'of no type'
  const what = `${status} ${statusText}`.trim()
  const location = headers.get('location')
  if (location !== null) return `The URL leads to another (${what}): use ${location}`
  return `The response (${what}, ${type}) is not one of the service. Check the URL, and the proxies before the service.`
}

/** Returns undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isErrorResponse = (body: unknown): body is ErrorResponse =>
  typeof body === 'object' &&
  body !== null &&
  'error' in body &&
  typeof body.error === 'object' &&
  body.error !== null &&
  'code' in body.error

/** Returns the seconds of Retry-After; undefined if there are none. */
function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
