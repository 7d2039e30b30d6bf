/** What went wrong when the page asked, in words. */
import type { ErrorResponse } from './contract.js'

export interface Failure {
  /** With the time after which to ask again, if the service says so. */
  readonly message: string
  /** Whether another key is needed. */
  readonly needsKey: boolean
  /** Whether the same query may be answered later. */
  readonly canRetry: boolean
}

/** What a failed request came to: no response at all, or one with a status. */
export interface Refusal {
  readonly status: number
  readonly error: ErrorResponse | undefined
  /** The seconds after which to ask again; NaN if it is a date. */
  readonly retryAfter?: number | undefined
}

const AWAY: Failure = {
  message: 'The service does not answer. It may be restarting, or the network may be down.',
  needsKey: false,
  canRetry: true,
}

/** A response that began well, and has no end. */
export const BROKEN_OFF: Failure = {
  message: 'The answer broke off. The service may be restarting, or the network may be down.',
  needsKey: false,
  canRetry: true,
}

/** Describes a failure. @param refusal undefined if there was no response */
export function describeFailure(refusal: Refusal | undefined): Failure {
  if (refusal === undefined) return AWAY
  const { status, error, retryAfter } = refusal
  const message = error?.error.message ?? `The service answered with status ${status}.`
  if (status === 401) {
    return { message: `The key is not accepted: ${message}`, needsKey: true, canRetry: false }
  }
  const canRetry = mayPass(status)
  return {
    message: canRetry ? putWait(message, retryAfter) : message,
    needsKey: false,
    canRetry,
  }
}

/** Whether a failure with this status may be over by the next time. Any other is a refusal: the same query is refused again. */
export const mayPass = (status: number): boolean => status === 429 || status >= 500

/** A sentence for programs, which read headers. */
const ABOUT_HEADER = /[^.]*\bRetry-After\.$/

/** Says how long to wait in place of where that stands. */
function putWait(message: string, seconds = NaN): string {
  if (!Number.isInteger(seconds) || seconds < 1) return message
  const unit = seconds === 1 ? 'second' : 'seconds'
  return `${message.replace(ABOUT_HEADER, '')} Try again in ${seconds} ${unit}.`
}

/** Whether a body is an error of the API; those of proxies are not. */
export const isErrorResponse = (body: unknown): body is ErrorResponse =>
  typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'object'

/** Thrown if the API does not answer, or refuses. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}
