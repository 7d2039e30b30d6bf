/** The heartbeat with which the holder of a lease renews it. */
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { GenerationLostError } from './lease-types.js'

/** Another process took the lease over, or its holder failed to renew it in time. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'

  constructor(lease: string) {
    super(`the lease "${lease}" of this database was lost`)
  }
}

interface Heartbeat {
  /** Aborted with a LeaseLostError when the lease counts as lost. */
  readonly lost: AbortSignal
  stop(): void
}

const RENEW_INTERVAL_MS = 2_000
/** The lease counts as lost after this long without a renewal. Shorter than the silence after which others take it. */
const RENEW_TIMEOUT_MS = 8_000

/**
 * Renews a lease until the heartbeat is stopped or the lease is lost. It does not keep the process alive.
 *
 * @param renew records in the store that the holder is alive
 */
export function startHeartbeat(renew: () => Promise<void>, name: string): Heartbeat {
  const lost = new AbortController()
  // All statements that run under the lease listen.
  setMaxListeners(0, lost.signal)
  const stopped = new AbortController()
  const ended = AbortSignal.any([lost.signal, stopped.signal])
  const lose = (): void => lost.abort(new LeaseLostError(name))
  let deadline = setTimeout(lose, RENEW_TIMEOUT_MS).unref()

  const run = async (): Promise<void> => {
    for (;;) {
      await sleep(RENEW_INTERVAL_MS, undefined, { ref: false, signal: ended })
      const begun = performance.now()
      try {
        await renew()
        clearTimeout(deadline)
        deadline = setTimeout(lose, RENEW_TIMEOUT_MS - (performance.now() - begun)).unref()
      } catch (error) {
        if (error instanceof GenerationLostError) lose()
      }
    }
  }
  run().catch(() => clearTimeout(deadline))

  return {
    lost: lost.signal,
    stop: () => {
      stopped.abort()
      clearTimeout(deadline)
    },
  }
}
