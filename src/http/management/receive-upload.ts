/** Receives files: the bodies of requests that are neither parsed nor held in memory. */
import type { Request, RequestHandler, Response } from 'express'
import { ApiError } from '../../contract/errors.js'
import { SECOND_MS } from '../../lib/time.js'
import { createBodyTooLargeError } from '../server/body.js'
import { takeYourTime } from '../server/client-errors.js'
import { createStoppingError } from '../server/graceful-shutdown.js'

/** The most bytes of a file. */
export const MAX_UPLOAD_BYTES = 1024 ** 3

/** How many files a service receives at the same time. */
export const MAX_UPLOADS = 2

const RETRY_AFTER_SECONDS = 10

/** How long a client may pause while it sends a file. */
export const STALL_MS = 60 * SECOND_MS

/** How long a client that still sends may take to read that its file is refused. */
const LINGER_MS = 2 * SECOND_MS

/** Receives the body of a request as a stream. Read it at once. */
export type ReceiveUpload = <Result>(
  consume: (bytes: AsyncIterable<Buffer>) => Promise<Result>,
) => Promise<Result>

/** Limits how many files are received at the same time. */
export interface UploadGate {
  /** Enters a file. Returns what ends it. @throws ApiError SERVICE_UNAVAILABLE when there are too many */
  readonly enter: () => () => void
}

export function createUploadGate(): UploadGate {
  let uploads = 0
  return {
    enter: () => {
      if (uploads >= MAX_UPLOADS) {
        throw new ApiError(
          'SERVICE_UNAVAILABLE',
          `The service receives ${MAX_UPLOADS} files already. Wait the seconds given in Retry-After.`,
          { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
        )
      }
      uploads += 1
      return () => {
        uploads -= 1
      }
    },
  }
}

/**
 * Prepares a request whose body is a file. Its media type is dropped: the file says what it is, and the validator of the contract would
 * keep a copy of the contract for each type.
 */
export const prepareUpload: RequestHandler = (request, _response, next) => {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  // A file that is compressed on its way is the same as a compressed file.
  if (!['identity', 'gzip'].includes(encoding)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The file must be plain or compressed with gzip.')
  }
  delete request.headers['content-type']
  next()
}

/**
 * Creates what receives the body of a request. When it is refused on its way, the response is sent while the client still sends.
 *
 * @param signal aborts when the service stops
 * @throws ApiError PAYLOAD_TOO_LARGE, VALIDATION_ERROR for a body that ends early, and what `consume` throws
 */
export const receiveUpload =
  (request: Request, response: Response, gate: UploadGate, signal: AbortSignal): ReceiveUpload =>
  async (consume) => {
    const leave = gate.enter()
    const { socket } = request
    const endTime = takeYourTime(socket)
    socket.setTimeout(STALL_MS)
    // A client that closes its side gets an error from the server itself, and Node then forgets the request.
    const abort = (): void => void request.destroy()
    response.once('close', abort)
    try {
      return await consume(readBody(request, signal))
    } catch (error) {
      if (request.readableAborted) throw createIncompleteError(error)
      setTimeout(() => {
        if (!request.complete) socket.destroy()
      }, LINGER_MS).unref()
      throw error
    } finally {
      response.off('close', abort)
      endTime()
      leave()
    }
  }

async function* readBody(request: Request, signal: AbortSignal): AsyncGenerator<Buffer> {
  let bytes = 0
  // A request that is destroyed has no response.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>
  for await (const chunk of chunks) {
    if (signal.aborted) throw createStoppingError()
    bytes += chunk.length
    if (bytes > MAX_UPLOAD_BYTES) throw createBodyTooLargeError(MAX_UPLOAD_BYTES)
    yield chunk
  }
}

const createIncompleteError = (cause: unknown): ApiError =>
  new ApiError('VALIDATION_ERROR', 'The request body is incomplete.', { cause })
