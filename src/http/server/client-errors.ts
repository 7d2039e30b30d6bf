/** Answers what Node refuses by itself, and would answer with an empty body or not at all. */
import { IncomingMessage, ServerResponse, type Server } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError } from '../../contract/errors.js'
import type { Logger } from '../../lib/log.js'
import { setCommonHeaders } from './common-headers.js'
import { writeError } from './error-response.js'
import { requestId } from './request-id.js'

/** Time for a client that is still sending to read why it was refused, before it is cut off. */
const LINGER_MS = 500

/** The answer by Node's code for what is wrong; a code that is missing is a malformed request. */
const ANSWERS: ReadonlyMap<string, () => ApiError> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    () => new ApiError('PAYLOAD_TOO_LARGE', 'The request line and headers are over 16 kB.', CLOSE),
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

const CLOSE = { headers: { Connection: 'close' } }

const malformed = (): ApiError =>
  new ApiError('VALIDATION_ERROR', 'The request is not well-formed HTTP.', CLOSE)

const connectRefused = (): ApiError =>
  new ApiError('METHOD_NOT_ALLOWED', 'The service is no proxy.', {
    headers: { Allow: 'GET, HEAD, POST', Connection: 'close' },
  })

/** Makes a server answer its own refusals like every other error. */
export function answerRefusals(server: Server, logger: Logger): void {
  const latest = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()

  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    latest.set(socket, response)
  })
  server.on('clientError', (cause: NodeJS.ErrnoException, socket) => {
    // What follows a fault on the same connection is part of it.
    if (refused.has(socket)) return
    refused.add(socket)
    if (cause.code === 'ECONNRESET' || !socket.writable || !(socket instanceof Socket)) {
      socket.destroy()
      return
    }
    const error = (ANSWERS.get(cause.code ?? '') ?? malformed)()
    logger.info({ code: error.code, reason: cause.code }, 'request refused')
    refuse(socket, latest.get(socket), error)
  })
  // The app knows the rule; Node would answer 417 by itself.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', ({ socket }: IncomingMessage) => {
    logger.info({ code: 'METHOD_NOT_ALLOWED' }, 'request refused')
    answer(socket, connectRefused())
  })
}

/**
 * Refuses what came over a connection, whose answers must keep the order of its requests.
 *
 * @param latest the answer to the connection's last request whose headers were read
 */
function refuse(socket: Socket, latest: ServerResponse | undefined, error: ApiError): void {
  if (latest?.req.complete === false) {
    if (latest.headersSent) socket.destroy()
    else writeError(latest, error)
  } else if (latest === undefined || latest.writableFinished) {
    answer(socket, error)
  } else {
    latest.once('finish', () => setImmediate(answer, socket, error))
  }
}

/** Answers on a connection without a response of its own, then closes it. */
function answer(socket: Socket, error: ApiError): void {
  if (!socket.writable) return
  const request = new IncomingMessage(socket)
  const response = new ServerResponse(request)
  requestId(request, response)
  setCommonHeaders(response)
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  })
  writeError(response, error)
}
