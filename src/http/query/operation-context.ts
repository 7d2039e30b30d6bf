/** Who asks a question of the query API, and until when: what an operation needs beside the body. */
import type { Request } from 'express'
import type { Logger } from '../../lib/log.js'
import { getAuthContext, type AuthContext } from '../server/request-context.js'

export interface OperationContext extends AuthContext {
  /** The id of the request: 8 to 64 letters, digits, `-` and `_`. */
  readonly requestId: string
  /** Adds the request's id to what it logs. */
  readonly logger: Logger
  /** Aborts when the answer can no longer be delivered. */
  readonly signal: AbortSignal
  /** The moment at which the question is asked; the clock says it if left out. */
  readonly now?: Date
}

/** Creates the context of a request that has been authenticated. */
export const createOperationContext = (
  request: Request,
  signal: AbortSignal,
): OperationContext => ({
  ...getAuthContext(request),
  // The middleware of the log has set it to a text.
  requestId: request.id as string,
  logger: request.log,
  signal,
})
