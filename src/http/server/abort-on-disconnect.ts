/** Aborts work when its result can no longer be delivered. */
import type { ServerResponse } from 'node:http'

/** Returns a signal that aborts when the client disconnects before the response is sent, or when `stopping` aborts. */
export function abortOnDisconnect(response: ServerResponse, stopping: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const stop = (): void => controller.abort(stopping.reason)
  const disconnect = (): void => controller.abort(new Error('the client disconnected'))
  if (stopping.aborted) stop()
  // The client disconnected during validation: `close` has already been emitted.
  else if (response.destroyed) disconnect()
  else {
    // Not AbortSignal.any: on Node 20 it retains every signal derived from a long-lived one.
    stopping.addEventListener('abort', stop, { once: true })
    response.once('close', () => {
      stopping.removeEventListener('abort', stop)
      if (!response.writableFinished) disconnect()
    })
  }
  return controller.signal
}
