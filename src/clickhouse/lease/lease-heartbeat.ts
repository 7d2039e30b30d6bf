/** The heartbeat of a lease's holder. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isClickHouseError } from '../errors.js'

/** The lease was taken over, or its holder could not say for too long that it is there. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

export interface Heartbeat {
  /** Aborted with a LeaseLostError when the lease has to be taken for lost. */
  readonly lost: AbortSignal
  stop(): void
}

const BEAT_MS = 2_000
/** Shorter than the silence after which others take the holder for dead. */
const GIVE_UP_MS = 8_000

/**
 * Beats until it is stopped or the lease is lost; it keeps no process alive.
 *
 * @param beat says to the store that the holder is there.
 */
export function startHeartbeat(beat: () => Promise<void>, name: string): Heartbeat {
  const lost = new AbortController()
  const stopped = new AbortController()
  const ended = AbortSignal.any([lost.signal, stopped.signal])
  const lose = (): void => {
    lost.abort(new LeaseLostError(`the lease "${name}" of this database was lost`))
  }
  let deadline = setTimeout(lose, GIVE_UP_MS).unref()

  const run = async (): Promise<void> => {
    for (;;) {
      await sleep(BEAT_MS, undefined, { ref: false, signal: ended })
      const begun = performance.now()
      try {
        await beat()
        clearTimeout(deadline)
        deadline = setTimeout(lose, GIVE_UP_MS - (performance.now() - begun)).unref()
      } catch (error) {
        // Whoever takes a lease over drops the table of the holder before.
        if (isClickHouseError(error, 'UNKNOWN_TABLE')) lose()
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
