/** Keeps an engine running: restarts it whenever it ends without being asked to. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineProcess } from './engine-process.js'

/** An event in the life of an engine, for the log. It contains no secrets. */
export type EngineEvent =
  | { readonly kind: 'borrowed'; readonly pid: number; readonly from: string }
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
  /** Returns the milliseconds to wait after a number of failed starts in a row. */
  readonly computePause?: (failures: number) => number
}

const MAX_ATTEMPTS = 10

/** 100 ms, doubled each time, up to 5 s: about 20 s in all before the supervisor gives up. */
const computeGrowingPause = (failures: number): number => Math.min(50 * 2 ** failures, 5_000)

/**
 * Restarts a running engine whenever it ends. Resolves with undefined once it is stopped, or with the last error
 * after 10 failed starts in a row.
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
    onEvent({
      kind: 'died',
      pid: current.pid,
      reason: end?.message ?? 'it ended without being asked to',
    })
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

/** The result of a restart; empty when the engine was stopped meanwhile. */
interface Restarted {
  readonly engine?: EngineProcess
  readonly failure?: Error
}

/** Starts the engine again: at once, then after growing pauses, until it runs or the last attempt fails. */
async function restart(supervision: Supervision): Promise<Restarted> {
  const { start, stop, onEvent, computePause = computeGrowingPause } = supervision
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { engine: await start() }
    } catch (error) {
      if (stop.aborted) return {}
      const failure = error as Error
      onEvent({ kind: 'restart failed', attempt, reason: failure.message })
      if (attempt === MAX_ATTEMPTS) return { failure }
    }
    const isAwake = await sleep(computePause(attempt), true, { signal: stop }).catch(() => false)
    if (!isAwake) return {}
  }
}
