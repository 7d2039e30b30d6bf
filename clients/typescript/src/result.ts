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
  /** What made the request fail without a response. */
  readonly cause?: unknown
}

export type Result<Data> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly error: TallyhouseError }

/** What openapi-fetch returns. Its types of data lose tuples and immutable lists, so those of the contract replace them. */
interface Fetched {
  readonly data?: unknown
  readonly error?: unknown
  readonly response: Response
}

/** Awaits a request. Failures of the network become errors, too. @param read reads the data of a response; as they are by default */
export async function toResult<Data>(
  request: Promise<Fetched>,
  read: (data: unknown, response: Response) => Data = (data) => data as Data,
): Promise<Result<Data>> {
  try {
    const { data, error, response } = await request
    if (response.ok && data !== undefined) return { ok: true, data: read(data, response) }
    return { ok: false, error: describeError(error, response) }
  } catch (cause) {
    return { ok: false, error: describeFailure(cause) }
  }
}

/** Describes why there is no complete response. */
export function describeFailure(cause: unknown): TallyhouseError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return { status: 0, code: 'NO_RESPONSE', message, details: [], cause }
}

function describeError(body: unknown, { status, statusText, headers }: Response): TallyhouseError {
  const { code, message, details } = isErrorResponse(body)
    ? body.error
    : { code: 'NO_RESPONSE', message: statusText, details: [] }
  const requestId = headers.get('x-request-id')
  const retryAfter = readRetryAfter(headers)
  return {
    status,
    code,
    message,
    details: details ?? [],
    ...(requestId === null ? {} : { requestId }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
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
export function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
