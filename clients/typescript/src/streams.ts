/** Responses that are streams: they end properly, or break off with an error. */
import type { Deadline } from './http.js'
import { IncompleteResponseError } from './result.js'

/**
 * Returns the body of a response as a stream that ends only if the response is complete. It reads nothing ahead.
 * @param deadline begins again with each part
 * @throws IncompleteResponseError for a response that could end too early unnoticed
 */
export function openStream(response: Response, deadline: Deadline): ReadableStream<Uint8Array> {
  const { body, headers, url } = response
  // Of HTTP/1 only a response with a length, or in chunks, has an end. HTTP/2 needs TLS, and has no header Connection.
  const isFramed = headers.has('content-length') || headers.has('transfer-encoding')
  const mayBeHttp2 = url.startsWith('https:') && !headers.has('connection')
  if (body === null || !(isFramed || mayBeHttp2)) {
    if (body !== null) void cancelStream(body)
    const message = 'The response does not say where it ends, so it may be incomplete.'
    throw new IncompleteResponseError(message)
  }
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        deadline.start()
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (cause) {
          const message = 'The response broke off, so it is incomplete.'
          controller.error(new IncompleteResponseError(message, { cause }))
        } finally {
          deadline.stop()
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Yields the parts of a stream. A caller that stops reading cancels it. @throws IncompleteResponseError if it breaks off */
export async function* readParts(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    reader.releaseLock()
    await cancelStream(stream)
  }
}

/** Ends the request of a stream, if it has not ended. */
export const cancelStream = (stream: ReadableStream<Uint8Array>): Promise<void> =>
  stream.cancel().catch(() => undefined)

/** Yields the objects of NDJSON as they arrive, some at a time. @throws IncompleteResponseError if it breaks off */
export async function* readObjects<T>(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<readonly T[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of readParts(stream)) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) yield lines.map(parseLine) as T[]
  }
  if (rest !== '') throw new IncompleteResponseError('The response ends within a line.')
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new IncompleteResponseError('A line of the response is not JSON.', { cause })
  }
}
