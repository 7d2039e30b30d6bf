/** Recognizes the errors of the store and turns them into errors of the API. */
import { ClickHouseError } from '@clickhouse/client'
import { types } from 'node:util'
import type { ErrorCode } from '../contract/api.js'
import { ApiError } from '../contract/errors.js'

/** Returns whether ClickHouse rejected a statement with an error of this type, such as `UNKNOWN_TABLE`. */
export const isClickHouseError = (error: unknown, type: string): boolean =>
  error instanceof ClickHouseError && error.type === type

/**
 * Returns why ClickHouse rejected a statement, without the part of the message that locates the error in the query.
 * Undefined for an error that is not ClickHouse's.
 */
export function getClickHouseReason(error: unknown): string | undefined {
  if (!(error instanceof ClickHouseError)) return undefined
  const [reason] = error.message.split(/: While executing|\. \(/, 1)
  return reason ?? error.message
}

/** A query was cancelled: its deadline passed, or its caller no longer waits for the response. */
export class QueryCancelledError extends Error {
  override readonly name = 'QueryCancelledError'

  constructor(reason: unknown) {
    super('the query was cancelled', { cause: reason })
  }
}

/** The response of the store ended before it was complete. */
export class IncompleteResponseError extends Error {
  override readonly name = 'IncompleteResponseError'

  constructor() {
    super('the response of the store is incomplete')
  }
}

type StoreFailure = Extract<
  ErrorCode,
  'QUERY_TOO_EXPENSIVE' | 'QUERY_TIMEOUT' | 'SERVICE_UNAVAILABLE'
>

/** ClickHouse's error types. Any other type is unforeseen and becomes an INTERNAL_ERROR. */
const CLICKHOUSE_FAILURES: ReadonlyMap<string, StoreFailure> = new Map([
  ['TIMEOUT_EXCEEDED', 'QUERY_TIMEOUT'],
  ['TOO_SLOW', 'QUERY_TIMEOUT'],
  ['QUERY_WAS_CANCELLED', 'QUERY_TIMEOUT'],
  ['MEMORY_LIMIT_EXCEEDED', 'QUERY_TOO_EXPENSIVE'],
  ['TOO_MANY_ROWS', 'QUERY_TOO_EXPENSIVE'],
  ['TOO_MANY_BYTES', 'QUERY_TOO_EXPENSIVE'],
  ['TOO_MANY_ROWS_OR_BYTES', 'QUERY_TOO_EXPENSIVE'],
  ['SET_SIZE_LIMIT_EXCEEDED', 'QUERY_TOO_EXPENSIVE'],
  ['TOO_BIG_AST', 'QUERY_TOO_EXPENSIVE'],
  ['TOO_DEEP_AST', 'QUERY_TOO_EXPENSIVE'],
  ['TOO_MANY_SIMULTANEOUS_QUERIES', 'SERVICE_UNAVAILABLE'],
  ['CANNOT_SCHEDULE_TASK', 'SERVICE_UNAVAILABLE'],
  ['TABLE_IS_READ_ONLY', 'SERVICE_UNAVAILABLE'],
  ['NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
])

/** Node's error codes for a store that does not answer, or whose connection broke. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

const MESSAGES: Readonly<Record<StoreFailure, string>> = {
  QUERY_TOO_EXPENSIVE:
    'The query needs more memory or rows than one query may use. Narrow date_range, add filters, or group by a field with fewer values.',
  QUERY_TIMEOUT:
    'The query took longer than its deadline and was stopped. Narrow date_range or add filters.',
  SERVICE_UNAVAILABLE: 'The store does not answer right now. Try again in a moment.',
}

/** Turns a failure of the store into an error of the API. Its cause is logged and never sent to a client. */
export function toStoreError(cause: unknown): ApiError {
  const code = classifyFailure(cause)
  if (code === undefined) return new ApiError('INTERNAL_ERROR', 'Something went wrong.', { cause })
  return new ApiError(code, MESSAGES[code], { cause })
}

function classifyFailure(cause: unknown): StoreFailure | undefined {
  if (cause instanceof ClickHouseError) return CLICKHOUSE_FAILURES.get(cause.type ?? '')
  if (cause instanceof QueryCancelledError) return 'QUERY_TIMEOUT'
  // JSON that was cut short does not parse.
  if (cause instanceof IncompleteResponseError || cause instanceof SyntaxError) {
    return 'SERVICE_UNAVAILABLE'
  }
  return isUnreachable(cause) ? 'SERVICE_UNAVAILABLE' : undefined
}

/** Returns whether nothing answered at the address of the store, or the connection broke. */
export function isUnreachable(cause: unknown): boolean {
  // `instanceof` would miss an error of another realm, such as a Jest test.
  if (!types.isNativeError(cause)) return false
  if ('code' in cause && UNREACHABLE.has(String(cause.code))) return true
  return cause.message === 'socket hang up' || cause.message === 'aborted'
}
