/** Sends error responses for requests that Node itself rejects, with an empty body or without a response. */
import { IncomingMessage, ServerResponse, type Server } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError } from '../../contract/errors.js'
import type { Logger } from '../../lib/log.js'
import { writeError } from './error-response.js'
import { assignRequestId, setCommonHeaders } from './response-headers.js'

/** A client that is still sending gets this long to read the error before its connection is destroyed. */
const LINGER_MS = 500

/** The response for each error code of Node; any other code means a malformed request. */
const ERRORS: ReadonlyMap<string, () => ApiError> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    () =>
      new ApiError(
        'PAYLOAD_TOO_LARGE',
        'The request line and headers are larger than 16 kB.',
        CLOSE,
      ),
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    () => new ApiError('PAYLOAD_TOO_LARGE', 'The chunk extensions are too large.', CLOSE),
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    () => new ApiError('VALIDATION_ERROR', 'The request did not arrive in time.', CLOSE),
  ],
])

/** The connections on which a request may take longer to arrive than others. */
const patient = new WeakSet<Duplex>()

/** Lets the request that arrives on a connection take as long as it needs. Returns what ends that. */
export function takeYourTime(socket: Duplex): () => void {
  patient.add(socket)
  return () => patient.delete(socket)
}

const CLOSE = { headers: { Connection: 'close' } }

const createMalformedError = (): ApiError =>
  new ApiError('VALIDATION_ERROR', 'The request is not well-formed HTTP.', CLOSE)

const createConnectError = (): ApiError =>
  new ApiError('METHOD_NOT_ALLOWED', 'The service is not a proxy.', {
    headers: { Allow: 'GET, HEAD, POST', Connection: 'close' },
  })

/**
 * Makes a server respond to the requests it rejects in the same format as every other error.
 *
 * @param onMalformedRequest is called with the code of each such error
 */
export function respondToClientErrors(
  server: Server,
  logger: Logger,
  onMalformedRequest: (errorCode: string) => void = () => undefined,
): void {
  const latest = new WeakMap<Duplex, ServerResponse>()
  const rejected = new WeakSet<Duplex>()

  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    latest.set(socket, response)
  })
  server.on('clientError', (cause: NodeJS.ErrnoException, socket) => {
    // Later errors of the same connection follow from the first.
    if (rejected.has(socket)) return
    // Node reports this once for a request.
    if (cause.code === 'ERR_HTTP_REQUEST_TIMEOUT' && patient.has(socket)) return
    const isGone = cause.code === 'ECONNRESET' || !socket.writable || !(socket instanceof Socket)
    if (!isGone && socket.bytesRead === 0) {
      setImmediate(closeUnused, socket)
      return
    }
    rejected.add(socket)
    if (isGone) {
      socket.destroy()
      return
    }
    const error = (ERRORS.get(cause.code ?? '') ?? createMalformedError)()
    logger.info({ code: error.code, reason: cause.code }, 'request rejected')
    onMalformedRequest(error.code)
    reject(socket, latest.get(socket), error)
  })
  // enforceHttpConformance checks Expect; Node would respond with an empty 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', ({ socket }: IncomingMessage) => {
    const error = createConnectError()
    logger.info({ code: error.code }, 'request rejected')
    onMalformedRequest(error.code)
    sendError(socket, error)
  })
}

/**
 * Closes a connection on which nothing has arrived. A client may keep it in reserve: its first request must not meet an error that
 * was sent before it. A process that was busy reads what has arrived after its timers have fired, so this is called a turn later.
 */
function closeUnused(socket: Socket): void {
  if (socket.bytesRead === 0) socket.destroy()
}

/**
 * Rejects what a connection sent. Responses must keep the order of the requests (RFC 9112 §9.3.2).
 *
 * @param latest the response to the connection's latest request whose headers were parsed
 */
function reject(socket: Socket, latest: ServerResponse | undefined, error: ApiError): void {
  if (latest?.req.complete === false) {
    if (latest.headersSent) socket.destroy()
    else writeError(latest, error)
  } else if (latest === undefined || latest.writableFinished) {
    sendError(socket, error)
  } else {
    latest.once('finish', () => setImmediate(sendError, socket, error))
  }
}

/** Sends an error on a connection without a pending response, then closes it. */
function sendError(socket: Socket, error: ApiError): void {
  if (!socket.writable) return
  const request = new IncomingMessage(socket)
  const response = new ServerResponse(request)
  assignRequestId(request, response)
  setCommonHeaders(response)
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  })
  writeError(response, error)
}
