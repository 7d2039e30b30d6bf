/** Logs one line a request: who asked what, and how it went; no header, query string or body. */
import type { RequestHandler } from 'express'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pinoHttp } from 'pino-http'
import type { Logger } from '../../lib/log.js'
import { findCaller } from '../query/auth-context.js'
import { findDelivery } from '../collect/collect-context.js'
import { requestId } from './request-id.js'

/** They come every second or so, and whoever sends them knows their answers. */
const PROBES = new Set(['/livez', '/readyz'])

/** The status of events that are kept: by the thousand a second, where all is well. */
const KEPT = 202

/** Names the request, and logs its line as soon as it is answered or its client is gone. */
export function requestLog(logger: Logger): RequestHandler {
  // Of a line that nobody sees not even its parts are put together.
  const ofCourse = logger.isLevelEnabled('debug') ? 'debug' : 'silent'
  return pinoHttp({
    logger,
    genReqId: requestId,
    customAttributeKeys: { reqId: 'requestId', responseTime: 'ms' },
    quietReqLogger: true,
    quietResLogger: true,
    // Without these the whole request would be printed: its address, and its headers with the key.
    wrapSerializers: false,
    serializers: { req: () => undefined, res: () => undefined },
    customSuccessObject: (request, response, { ms }: Timed) => line(request, response, ms),
    customErrorObject: (request, response, err, { ms }: Timed) => ({
      ...line(request, response, ms),
      err,
    }),
    customErrorMessage: () => 'request failed',
    customLogLevel: (request, { statusCode }) => {
      if (PROBES.has(routeOf(request) ?? '') || statusCode === KEPT) return ofCourse
      return statusCode >= 500 ? 'error' : 'info'
    },
  })
}

interface Timed {
  readonly ms: number
}

function line(request: IncomingMessage, response: ServerResponse, ms: number): object {
  const caller = findCaller(request)
  const delivery = findDelivery(request)
  return {
    method: request.method,
    route: routeOf(request),
    status: response.statusCode,
    ms,
    keyId: caller?.principal.keyId,
    projectId: caller?.principal.projectId ?? delivery?.project?.id,
    events: delivery?.events,
  }
}

/** The template of the matched route; the address itself is the client's text, and stays out. */
function routeOf(request: IncomingMessage & { route?: { path?: unknown } }): string | undefined {
  const path = request.route?.path
  return typeof path === 'string' ? path : undefined
}
