/** Keeps an engine running: starts it again whenever it ends unasked. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineProcess } from './engine-process.js'

/** What happens to an engine, for the log. It has no secrets in it. */
export type EngineEvent =
  | { readonly kind: 'started'; readonly pid: number; readonly milliseconds: number }
  | { readonly kind: 'died'; readonly pid: number; readonly reason: string }
  | { readonly kind: 'restarted'; readonly pid: number; readonly milliseconds: number }
  | { readonly kind: 'restart failed'; readonly attempt: number; readonly reason: string }
  | { readonly kind: 'gave up'; readonly reason: string }
  | { readonly kind: 'stopped' }

export interface Supervision {
  readonly start: () => Promise<EngineProcess>
  readonly stop: AbortSignal
  readonly onEvent: (event: EngineEvent) => void
  /** Milliseconds to wait after that many failed starts in a row. */
  readonly pause?: (failures: number) => number
}

const ATTEMPTS = 10

/** 100 ms, doubled each time, up to 5 s: half a minute in all before giving up. */
const growingPause = (failures: number): number => Math.min(50 * 2 ** failures, 5_000)

/**
 * Watches over a running engine until it is stopped, then resolves with undefined; with the last
 * error when it could not be started 10 times in a row.
 */
export async function supervise(
  first: EngineProcess,
  supervision: Supervision,
): Promise<Error | undefined> {
  const { stop, onEvent } = supervision
  let current = first
  for (;;) {
    const end = await current.ended
    if (stop.aborted) return undefined
    const diedAt = performance.now()
    onEvent({ kind: 'died', pid: current.pid, reason: end?.message ?? 'it ended unasked' })
    const { engine, failure } = await restart(supervision)
    if (failure !== undefined) onEvent({ kind: 'gave up', reason: failure.message })
    if (engine === undefined) return failure
    current = engine
    onEvent({
      kind: 'restarted',
      pid: current.pid,
      milliseconds: Math.round(performance.now() - diedAt),
    })
  }
}

/** What restarting came to; neither when it was stopped meanwhile. */
interface Restarted {
  readonly engine?: EngineProcess
  readonly failure?: Error
}

/** Tries until it runs: at once, then after growing pauses. */
async function restart(supervision: Supervision): Promise<Restarted> {
  const { start, stop, onEvent, pause = growingPause } = supervision
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { engine: await start() }
    } catch (error) {
      if (stop.aborted) return {}
      const failure = error as Error
      onEvent({ kind: 'restart failed', attempt, reason: failure.message })
      if (attempt === ATTEMPTS) return { failure }
    }
    const isAwake = await sleep(pause(attempt), true, { signal: stop }).catch(() => false)
    if (!isAwake) return {}
  }
}
