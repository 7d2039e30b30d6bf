/** Recognizes the errors of the store and turns them into errors of the API. */
import { ClickHouseError, parseError } from '@clickhouse/client'
import { types } from 'node:util'
import type { ErrorCode } from '../contract/api.js'
import { ApiError } from '../contract/errors.js'

/** Returns whether ClickHouse rejected a statement with an error of this type, such as `UNKNOWN_TABLE`. */
export const isClickHouseError = (error: unknown, type: string): boolean =>
  error instanceof ClickHouseError && error.type === type

/** Returns whether ClickHouse itself rejected a statement, so that it runs and can be reached. */
export const isAnswer = (error: unknown): boolean => error instanceof ClickHouseError

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

/** Returns whether ClickHouse failed because its disk is full. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof ClickHouseError &&
  (error.type === 'NOT_ENOUGH_SPACE' || DISK_FULL.test(error.message))
/** Other types have the message of the system: `CANNOT_WRITE_TO_FILE_DESCRIPTOR`, `STD_EXCEPTION`. */
const DISK_FULL = /No space left on device|not enough space/i

/** The store does not answer, or something else answers at its address. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/**
 * Turns an error of the client into one of this room's. Whatever is neither ClickHouse's error nor a mistake in this
 * program is a failure of the connection: the network, TLS, a proxy, or another program that answers.
 */
export function toConnectionError(error: unknown): unknown {
  const isKnown =
    error instanceof ClickHouseError ||
    error instanceof QueryCancelledError ||
    error instanceof StoreUnavailableError ||
    // `instanceof` would miss an error of another realm, such as a Jest test.
    (types.isNativeError(error) && error.name === 'TypeError')
  return isKnown ? error : new StoreUnavailableError(describe(error), { cause: error })
}

/** The text of an error may be the page of a proxy. */
const MAX_DESCRIPTION = 200

function describe(error: unknown): string {
  if (!types.isNativeError(error)) return 'unknown failure'
  // When a host name has several addresses and each refuses, Node's error has a code and an empty message.
  const message = error.message === '' && 'code' in error ? String(error.code) : error.message
  return message.slice(0, MAX_DESCRIPTION)
}

/** Parses the text of an error of ClickHouse. Any other text means that something else answered. */
export function parseClickHouseError(body: string): Error {
  const error = parseError(body)
  return error instanceof ClickHouseError
    ? error
    : new StoreUnavailableError(`unexpected response: ${describe(error)}`)
}

/** Returns whether the store, or a proxy, closed the connection of a request instead of answering. */
export function isConnectionReset(error: unknown): boolean {
  const cause = error instanceof StoreUnavailableError ? error.cause : undefined
  if (!types.isNativeError(cause)) return false
  return ('code' in cause && RESET.has(String(cause.code))) || cause.message === 'socket hang up'
}
const RESET = new Set(['ECONNRESET', 'EPIPE'])

type StoreFailure = Extract<
  ErrorCode,
  'QUERY_TOO_EXPENSIVE' | 'QUERY_TIMEOUT' | 'SERVICE_UNAVAILABLE'
>

/** The types for a statement that is too large, however little it reads. */
const TOO_LARGE = ['TOO_BIG_AST', 'TOO_DEEP_AST']

/** ClickHouse's error types. Any other type is unforeseen and becomes an INTERNAL_ERROR. */
const CLICKHOUSE_FAILURES: ReadonlyMap<string, StoreFailure> = new Map([
  ...listFailures('QUERY_TIMEOUT', ['TIMEOUT_EXCEEDED', 'TOO_SLOW', 'QUERY_WAS_CANCELLED']),
  ...listFailures('QUERY_TOO_EXPENSIVE', [
    'MEMORY_LIMIT_EXCEEDED',
    'TOO_MANY_ROWS',
    'TOO_MANY_BYTES',
    'TOO_MANY_ROWS_OR_BYTES',
    'SET_SIZE_LIMIT_EXCEEDED',
    ...TOO_LARGE,
  ]),
  ...listFailures('SERVICE_UNAVAILABLE', [
    // Too much work, or too little room.
    'TOO_MANY_SIMULTANEOUS_QUERIES',
    'SERVER_OVERLOADED',
    'QUOTA_EXCEEDED',
    'TOO_MANY_PARTS',
    'USER_SESSION_LIMIT_EXCEEDED',
    'CANNOT_SCHEDULE_TASK',
    'CANNOT_ALLOCATE_MEMORY',
    'TABLE_IS_READ_ONLY',
    // Too few replicas have the rows. Some may have them.
    'TOO_FEW_LIVE_REPLICAS',
    'UNKNOWN_STATUS_OF_INSERT',
    'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE',
    'NO_ZOOKEEPER',
    // The server stops, or its own connections fail.
    'ABORTED',
    'NETWORK_ERROR',
    'SOCKET_TIMEOUT',
    'DNS_ERROR',
    'ALL_CONNECTION_TRIES_FAILED',
    'CANNOT_READ_FROM_SOCKET',
    'CANNOT_WRITE_TO_SOCKET',
    'ATTEMPT_TO_READ_AFTER_EOF',
    'QUERY_WAS_CANCELLED_BY_CLIENT',
    'KEEPER_EXCEPTION',
    'UNKNOWN_PACKET_FROM_SERVER',
    'UNEXPECTED_PACKET_FROM_SERVER',
    // The password of the account is being changed.
    'AUTHENTICATION_FAILED',
  ]),
])

function listFailures(
  failure: StoreFailure,
  types: readonly string[],
): readonly (readonly [string, StoreFailure])[] {
  return types.map((type) => [type, failure])
}

/** A limit that many queries share, of the account or of the server, and not that of the query itself. */
const SHARED_MEMORY =
  /^(?:received from \S+ DB::Exception: )?(?:(?:user|\(total\)) memory limit|memory limit \((?:for user|total)\))/i

/**
 * What another server sent is cut or damaged. ClickHouse names the error by what it tried to read, as for a damaged file; it
 * says less while the connection is opened.
 */
const DAMAGED_PACKET =
  /: while receiving packet from \S+:\d+|^cannot read all data\. Bytes read: \d+\. Bytes expected: \d+\.?: While executing Remote/i

const MESSAGES: Readonly<Record<StoreFailure, string>> = {
  QUERY_TOO_EXPENSIVE:
    'The query needs more memory or rows than one query may use. Narrow date_range, add filters, or group by a field with fewer values.',
  QUERY_TIMEOUT:
    'The query took longer than its deadline and was stopped. Narrow date_range or add filters.',
  SERVICE_UNAVAILABLE: 'The store does not answer right now. Try again in a moment.',
}

const TOO_LARGE_MESSAGE =
  'The query has more parts than one statement may have. Ask with fewer goals, segments, filters or metrics at once.'

/** Turns a failure of the store into an error of the API. Its cause is logged and never sent to a client. */
export function toStoreError(cause: unknown): ApiError {
  const code = classifyFailure(cause)
  if (code === undefined) return new ApiError('INTERNAL_ERROR', 'Something went wrong.', { cause })
  const isTooLarge = cause instanceof ClickHouseError && TOO_LARGE.includes(cause.type ?? '')
  return new ApiError(code, isTooLarge ? TOO_LARGE_MESSAGE : MESSAGES[code], { cause })
}

function classifyFailure(cause: unknown): StoreFailure | undefined {
  if (isDiskFull(cause)) return 'SERVICE_UNAVAILABLE'
  if (cause instanceof ClickHouseError) {
    const { type = '', message } = cause
    const isShared = type === 'MEMORY_LIMIT_EXCEEDED' && SHARED_MEMORY.test(message)
    if (isShared) return 'SERVICE_UNAVAILABLE'
    const isDamaged = DAMAGED_PACKET.test(message)
    return CLICKHOUSE_FAILURES.get(type) ?? (isDamaged ? 'SERVICE_UNAVAILABLE' : undefined)
  }
  if (cause instanceof QueryCancelledError) return 'QUERY_TIMEOUT'
  if (cause instanceof IncompleteResponseError || isUnreachable(cause)) return 'SERVICE_UNAVAILABLE'
  return undefined
}

/** Returns whether the store did not answer, or the connection broke. */
export const isUnreachable = (cause: unknown): boolean => cause instanceof StoreUnavailableError

/**
 * Returns the code that tells failures of statements apart in a metric: ClickHouse's type such as `UNKNOWN_TABLE`, the
 * code of Node.js such as `ECONNREFUSED`, or one of this file's own errors.
 */
export function getFailureCode(error: unknown): string {
  if (error instanceof ClickHouseError) return error.type ?? 'UNKNOWN'
  if (error instanceof QueryCancelledError) return 'CANCELLED'
  if (error instanceof IncompleteResponseError) return 'INCOMPLETE_RESPONSE'
  if (!(error instanceof StoreUnavailableError)) return 'OTHER'
  const { cause } = error
  return types.isNativeError(cause) && 'code' in cause ? String(cause.code) : 'UNAVAILABLE'
}
