/** Finds the reader of a public dashboard for a request, and ends the request when the project is no longer public. */
import type { Request, RequestHandler, Response } from 'express'
import type { AuthContext } from '../server/request-context.js'
import type { QueryQueue } from '../query/queue/query-queue.js'
import { findQueuedRoute, type Recognize } from '../query/refuse-early.js'
import type { ShareLimits } from './share-limits.js'
import { createNotSharedError, parseShareTarget, SHARE } from './share-path.js'

/** The reader of a public project. */
interface ShareReader extends AuthContext {
  /** For how many milliseconds the project is taken to be public without asking again. */
  readonly leftMs: number
}

/**
 * Finds the reader of a public project by its id or its public token; undefined if no public project has it.
 *
 * @throws ApiError SERVICE_UNAVAILABLE when the store does not answer
 */
export type FindReader = (name: string) => Promise<ShareReader | undefined>

/** What public dashboards need beside the use cases of the query API. */
export interface ShareDependencies {
  readonly find: FindReader
  /** Returns what was last known about a name: good enough to refuse a request, not to serve it. */
  readonly recall: (name: string) => AuthContext | undefined
  readonly limits: ShareLimits
  /** The queue of the responses that are streamed to viewers. */
  readonly streams: QueryQueue
}

/**
 * Sets `request.authContext` to the reader of the project in the path; an Authorization header is not looked at. The
 * request goes on as if its operation had been asked, so that the contract knows it.
 */
export const readShare =
  (find: FindReader): RequestHandler =>
  async (request, response, next) => {
    const { name, below } = parseShareTarget(request.originalUrl) ?? { name: '', below: '' }
    request.authContext = await requireReader(find, name, response)
    request.originalUrl = below
    next()
  }

/**
 * Finds the reader for a response, which breaks off when the project is no longer public.
 *
 * @throws ApiError NOT_FOUND
 */
async function requireReader(
  find: FindReader,
  name: string,
  response: Response,
): Promise<AuthContext> {
  const found = await find(name)
  if (found === undefined) throw createNotSharedError()
  const { leftMs, ...reader } = found
  endWithSharing(find, name, leftMs, response)
  return reader
}

/** Asks again when the time is up, as long as the response lasts: a query may wait, and a stream takes a minute. */
function endWithSharing(find: FindReader, name: string, leftMs: number, response: Response): void {
  const askAgain = async (): Promise<void> => {
    const found = await find(name).catch(() => undefined)
    if (found === undefined) response.destroy()
    else if (!response.closed) endWithSharing(find, name, found.leftMs, response)
  }
  const timer = setTimeout(() => void askAgain(), leftMs)
  response.once('close', () => clearTimeout(timer))
}

/** Recognizes requests to public dashboards. @param limitRate counts a request of a reader */
export const recognizeShares =
  (recall: ShareDependencies['recall'], limitRate: RequestHandler): Recognize =>
  (request: Request) => {
    const target = parseShareTarget(request.url)
    const path = target && findQueuedRoute(request, target.below)
    const context = path === undefined ? undefined : recall(target?.name ?? '')
    if (path === undefined || context === undefined) return undefined
    return { path: SHARE + path, context, limitRate }
  }
