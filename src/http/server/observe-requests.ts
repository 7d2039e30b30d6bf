/** Reports every request to an observer: when it starts, and how it ended. */
import type { RequestHandler } from 'express'
import { SECOND_MS } from '../../lib/time.js'
import { getRoute } from './request-context.js'

/** A request that has ended. */
export interface ObservedRequest {
  readonly method: string | undefined
  /** The template of the matched route; undefined when no route matched. */
  readonly route: string | undefined
  readonly status: number
  readonly seconds: number
  /** The code of the error response; undefined for any other response. */
  readonly errorCode: string | undefined
}

export interface RequestObserver {
  readonly onRequestStart: () => void
  /** Called once for each request: after its response, or when the client has disconnected. */
  readonly onRequestEnd: (request: ObservedRequest) => void
}

/** Calls the observer for every request. */
export const observeRequests =
  ({ onRequestStart, onRequestEnd }: RequestObserver): RequestHandler =>
  (request, response, next) => {
    const begun = performance.now()
    onRequestStart()
    // Emitted after `finish`, and also when the connection ends before the response.
    response.once('close', () =>
      onRequestEnd({
        method: request.method,
        route: getRoute(request),
        status: response.statusCode,
        seconds: (performance.now() - begun) / SECOND_MS,
        errorCode: request.errorCode,
      }),
    )
    next()
  }
