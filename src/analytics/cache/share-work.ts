/** Lets those who want the same at the same time share one piece of work. */
import { ApiError } from '../../contract/errors.js'

export interface SharedWork<Result> {
  /**
   * Joins the work with this name, or starts it. Work that many wait for already is not joined. When a caller's signal
   * aborts, its own wait ends; the work is aborted when nobody waits for it any more, and the last caller gets its error.
   *
   * @returns the result, and whether the work had been started before
   * @throws ApiError QUERY_TIMEOUT to a caller that leaves before others; what the work rejects with
   */
  readonly share: (
    name: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ) => Promise<{ readonly result: Result; readonly hasJoined: boolean }>
}

interface Flight<Result> {
  readonly result: Promise<Result>
  readonly controller: AbortController
  waiting: number
}

/** How many wait for the same work. Each keeps a request in memory; more are limited as if they asked for something else. */
const MAX_WAITING = 100

export function createSharedWork<Result>(): SharedWork<Result> {
  const flights = new Map<string, Flight<Result>>()
  const start = (name: string, work: (signal: AbortSignal) => Promise<Result>): Flight<Result> => {
    const controller = new AbortController()
    const result = work(controller.signal).finally(() => {
      if (flights.get(name) === flight) flights.delete(name)
    })
    const flight: Flight<Result> = { result, controller, waiting: 0 }
    flights.set(name, flight)
    return flight
  }
  return {
    share: async (name, signal, work) => {
      const current = flights.get(name)
      if (current !== undefined && current.waiting >= MAX_WAITING) {
        return { result: await work(signal), hasJoined: false }
      }
      const flight = current ?? start(name, work)
      const { left, stopWaiting } = watchLeaving(flight, signal, () => {
        // The next caller starts again.
        if (flights.get(name) === flight) flights.delete(name)
        flight.controller.abort(signal.reason)
      })
      try {
        const result = await Promise.race([flight.result, left])
        return { result, hasJoined: current !== undefined }
      } finally {
        stopWaiting()
      }
    },
  }
}

/** The error of every query whose client disconnects. Nobody receives it. */
const createLeftError = (cause: unknown): ApiError =>
  new ApiError('QUERY_TIMEOUT', 'The client did not wait for the answer.', { cause })

/**
 * Watches whether a caller leaves before the end of the work. `left` rejects if others wait for it then.
 *
 * @param abandon is called when the last caller has left
 */
function watchLeaving<Result>(
  flight: Flight<Result>,
  signal: AbortSignal,
  abandon: () => void,
): { readonly left: Promise<never>; readonly stopWaiting: () => void } {
  flight.waiting++
  let leave = (): void => undefined
  const left = new Promise<never>((_resolve, reject) => {
    leave = () => {
      flight.waiting--
      if (flight.waiting === 0) abandon()
      else reject(createLeftError(signal.reason))
    }
  })
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  return {
    left,
    stopWaiting: () => {
      signal.removeEventListener('abort', leave)
      // A caller that has left does not care how it ended.
      flight.result.catch(() => undefined)
      left.catch(() => undefined)
    },
  }
}
