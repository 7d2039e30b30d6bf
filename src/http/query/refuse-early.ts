/** Refuses queries for which the queue has no place before any other work is done for them: refusing must cost little. */
import type { Request, RequestHandler } from 'express'
import { ApiError, type ErrorCode } from '../../contract/errors.js'
import type { Logger } from '../../lib/log.js'
import { SECOND_MS } from '../../lib/time.js'
import { writeError } from '../server/error-response.js'
import type { AuthContext } from '../server/request-context.js'
import { assignRequestId, setCommonHeaders } from '../server/response-headers.js'
import { ENDPOINTS } from './endpoints.js'
import type { QueryQueue } from './queue/query-queue.js'
import type { PaceRefusal } from './slow-refusals.js'

/** Returns the key and the project that an Authorization header had when it was last checked; undefined if unknown. */
export type Recall = (header: string | undefined) => AuthContext | undefined

/** A request of a known reader that would wait in the queue. */
interface Recognized {
  /** The template of its route. */
  readonly path: string
  readonly context: AuthContext
  /** Counts the request, and rejects one beyond the limit of the minute. */
  readonly limitRate: RequestHandler
}

/** Recognizes a request by its method, its path and its headers alone; undefined for one that is handled as usual. */
export type Recognize = (request: Request) => Recognized | undefined

interface EarlyRefusals {
  readonly recognize: Recognize
  readonly queue: QueryQueue
  readonly pace: PaceRefusal
  /** Observes a request, then calls `next`. */
  readonly observe: RequestHandler
  readonly logger: Logger
  /** Aborted while the service stops: requests are then handled as usual. */
  readonly draining: AbortSignal
}

/** The requests that wait in the queue, with their routes. Any other spelling of them is handled as usual. */
const ROUTES: ReadonlyMap<string, string> = new Map(
  [
    ...ENDPOINTS.filter(({ answer }) => answer !== undefined),
    { method: 'post', path: '/v1/analytics/batch' },
    { method: 'post', path: '/mcp' },
  ].map(({ method, path }) => [`${method.toUpperCase()} ${path}`, path]),
)

/** Returns the route of a request that waits in the queue; undefined for any other request. @param target its path */
export const findQueuedRoute = ({ method }: Request, target: string): string | undefined =>
  ROUTES.get(`${method} ${target}`)

/** Recognizes the requests of API keys. @param limitRate counts the requests of a key */
export const recognizeKeys =
  (recall: Recall, limitRate: RequestHandler): Recognize =>
  (request) => {
    const path = findQueuedRoute(request, request.url)
    const context = path === undefined ? undefined : recall(request.headers.authorization)
    return path === undefined || context === undefined ? undefined : { path, context, limitRate }
  }

/**
 * Creates the first handler of an application. It refuses a request of a known reader that would be refused after its body
 * has been read and validated; all others go on. Refusals are paced, since under a flood even they would take all the
 * time. The log has one line per second and key for them.
 */
export function refuseEarly({
  recognize,
  queue,
  pace,
  observe,
  logger,
  draining,
}: EarlyRefusals): RequestHandler {
  const log = createRefusalLog(logger)
  return (request, response, next) => {
    const recognized = recognize(request)
    const refusal = recognized && queue.findRefusal(recognized.context.principal.keyId)
    if (recognized === undefined || refusal === undefined || draining.aborted) {
      next()
      return
    }
    const { path, context, limitRate } = recognized
    request.authContext = context
    request.route = { path }
    assignRequestId(request, response)
    setCommonHeaders(response)
    // A body that nobody reads would not arrive in time if the refusal is delayed.
    request.resume()
    const refuse = (limited?: unknown): void => {
      const error = limited instanceof ApiError ? limited : refusal
      request.errorCode = error.code
      log(context, error.code)
      pace(context.principal.keyId, () => writeError(response, error))
    }
    observe(request, response, () => void limitRate(request, response, refuse))
  }
}

/** Creates a function that counts refusals, and logs what it counted in a second. */
function createRefusalLog(logger: Logger): (context: AuthContext, code: ErrorCode) => void {
  const counts = new Map<
    string,
    { keyId: string; projectId: string; code: ErrorCode; requests: number }
  >()
  const flush = (): void => {
    for (const line of counts.values()) logger.warn(line, 'requests refused early')
    counts.clear()
  }
  return ({ principal: { keyId, projectId } }, code) => {
    if (counts.size === 0) setTimeout(flush, SECOND_MS)
    const id = `${code} ${keyId}`
    const line = counts.get(id) ?? { keyId, projectId, code, requests: 0 }
    line.requests++
    counts.set(id, line)
  }
}
