/** Logs one line per request: route, status, duration, key and project, but no header, query string or body. */
import type { RequestHandler } from 'express'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pinoHttp } from 'pino-http'
import type { Logger } from '../../lib/log.js'
import { getRoute } from './request-context.js'
import { assignRequestId } from './response-headers.js'

/** Routes logged at debug level only: load balancers probe them about once a second and see the responses themselves. */
const PROBES = new Set(['/livez', '/readyz'])

/** The status of accepted events, logged at debug level only: there may be thousands of such responses per second. */
const ACCEPTED = 202

/** Assigns the request id, and logs a line when the response is finished or the client disconnects. */
export function logRequests(logger: Logger): RequestHandler {
  // Unless debug is on, use `silent`, so that pino never builds the log object.
  const routine = logger.isLevelEnabled('debug') ? 'debug' : 'silent'
  return pinoHttp({
    logger,
    genReqId: assignRequestId,
    customAttributeKeys: { reqId: 'requestId', responseTime: 'ms' },
    quietReqLogger: true,
    quietResLogger: true,
    // The default serializers would log the URL and all headers, the API key included.
    wrapSerializers: false,
    serializers: { req: () => undefined, res: () => undefined },
    customSuccessObject: (request, response, { ms }: Timed) => describe(request, response, ms),
    customErrorObject: (request, response, err, { ms }: Timed) => ({
      ...describe(request, response, ms),
      err,
    }),
    customErrorMessage: () => 'request failed',
    customLogLevel: (request, { statusCode }) => {
      if (PROBES.has(getRoute(request) ?? '') || statusCode === ACCEPTED) return routine
      return statusCode >= 500 ? 'error' : 'info'
    },
  })
}

interface Timed {
  readonly ms: number
}

function describe(request: IncomingMessage, response: ServerResponse, ms: number): object {
  const { authContext, adminContext, collectContext } = request
  return {
    method: request.method,
    route: getRoute(request),
    status: response.statusCode,
    code: request.errorCode,
    ms,
    keyId: authContext?.principal.keyId ?? adminContext?.key.id,
    projectId: authContext?.principal.projectId ?? collectContext?.project?.id,
    events: collectContext?.events,
  }
}
