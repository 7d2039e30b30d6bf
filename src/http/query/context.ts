/** The context of a request to the query API: one value that goes from the handler to the connection. */
import type { Request } from 'express'
import type { Logger } from '../../lib/log.js'
import { getAuthContext, type AuthContext } from '../server/request-context.js'
import type { Turn } from './queue/query-queue.js'

export interface RequestContext extends AuthContext {
  /** The id of the request: 8 to 64 letters, digits, `-` and `_`. */
  readonly requestId: string
  /** Adds the request's id to what it logs. */
  readonly logger: Logger
  /** Aborts when the response can no longer be delivered. */
  readonly signal: AbortSignal
  /** The moment of the request; the clock says it if left out. */
  readonly now?: Date
}

/** The context of a request whose turn has come. */
export interface RunningRequest extends RequestContext {
  /** Milliseconds from the call to the result. */
  readonly timeoutMs: number
  /** Whether the store works on it only with the CPU time that others leave. */
  readonly yieldsCpu: boolean
}

/** Creates the context of a request that has been authenticated. */
export const createRequestContext = (request: Request, signal: AbortSignal): RequestContext => ({
  ...getAuthContext(request),
  // The middleware of the log has set it to a text.
  requestId: request.id as string,
  logger: request.log,
  signal,
})

/** Adds what a turn allows. */
export const startTurn = (
  context: RequestContext,
  { leftMs, isExtra }: Pick<Turn, 'leftMs' | 'isExtra'>,
): RunningRequest => ({ ...context, timeoutMs: leftMs, yieldsCpu: isExtra })
