/** Reports every request, when it starts and how it ended, to an observer and to a trace. */
import type { Request, RequestHandler, Response } from 'express'
import type { IncomingHttpHeaders } from 'node:http'
import { SECOND_MS } from '../../lib/time.js'
import { getRoute } from './request-context.js'

/** A request that has ended. */
interface EndedRequest {
  readonly method: string | undefined
  /** The template of the matched route; undefined when no route matched. */
  readonly route: string | undefined
  readonly status: number
  /** The code of the error response; undefined for any other response. */
  readonly errorCode: string | undefined
}

export interface ObservedRequest extends EndedRequest {
  readonly seconds: number
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
        ...describe(request, response),
        seconds: (performance.now() - begun) / SECOND_MS,
      }),
    )
    next()
  }

/** The span of a request in a trace. */
export interface RequestSpan {
  /** Runs a part of the request: what it starts belongs to the span. */
  readonly run: (work: () => void) => void
  /** Called once: after the response, or when the client has disconnected. */
  readonly end: (request: EndedRequest) => void
}

/** Handles every request in a span, which starts with the headers of the request. */
export const traceRequests =
  (startRequest: (headers: IncomingHttpHeaders) => RequestSpan): RequestHandler =>
  (request, response, next) => {
    const { run, end } = startRequest(request.headers)
    response.once('close', () => end(describe(request, response)))
    run(next)
  }

const describe = (request: Request, response: Response): EndedRequest => ({
  method: request.method,
  route: getRoute(request),
  status: response.statusCode,
  errorCode: request.errorCode,
})
