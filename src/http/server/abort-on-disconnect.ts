/** Tells when nobody waits for an answer any more. */
import type { ServerResponse } from 'node:http'

/** A signal that comes when the client is gone before its answer, or when `stopping` comes. */
export function abandonment(response: ServerResponse, stopping: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const stop = (): void => controller.abort(stopping.reason)
  const leave = (): void => controller.abort(new Error('the client is gone'))
  if (stopping.aborted) stop()
  // A client that left while its request was checked: `close` does not come a second time.
  else if (response.destroyed) leave()
  else {
    // AbortSignal.any would do, but on Node 20 it keeps every signal that derives from a lasting one.
    stopping.addEventListener('abort', stop, { once: true })
    response.once('close', () => {
      stopping.removeEventListener('abort', stop)
      if (!response.writableFinished) leave()
    })
  }
  return controller.signal
}
