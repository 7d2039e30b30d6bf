/** Repeats the steps of a start that fail because ClickHouse does not respond. */
import { setTimeout as sleep } from 'node:timers/promises'
import { IncompleteResponseError, isUnreachable } from '../clickhouse/errors.js'
import { LeaseLostError } from '../clickhouse/lease/lease-heartbeat.js'
import { SECOND_MS } from '../lib/time.js'

export interface WaitOptions {
  /** How long to wait for a ClickHouse that does not respond, in milliseconds; 0 by default, Infinity for no limit. */
  readonly waitMs?: number
  /** Ends the wait. */
  readonly stop?: AbortSignal
  /** Called with lines for the log. */
  readonly onNotice?: ((level: 'info' | 'warn', text: string) => void) | undefined
  /** Called with what the start does now: half a sentence such as `it waits for ClickHouse`. */
  readonly onPhase?: (phase: string) => void
}

const RETRY_INTERVAL_MS = SECOND_MS
/** How often a wait is logged. */
const NOTICE_INTERVAL_MS = 10 * SECOND_MS

/**
 * Calls `attempt` until it does not fail because ClickHouse is away. It must be safe to repeat.
 *
 * @param attempt calls its argument when ClickHouse has responded; the wait then begins again
 * @param url names ClickHouse in the log
 * @throws the error of the last attempt when ClickHouse has not responded for `waitMs`, and any other error at once
 */
export async function retryWhileAway<Result>(
  attempt: (onResponse: () => void) => Promise<Result>,
  url: string,
  { waitMs = 0, stop, onNotice, onPhase }: WaitOptions,
): Promise<Result> {
  let awaySince: number | undefined
  let noticedAt = -Infinity
  for (;;) {
    try {
      stop?.throwIfAborted()
      return await attempt(() => (awaySince = undefined))
    } catch (error) {
      const now = performance.now()
      awaySince ??= now
      const left = awaySince + waitMs - now
      if (!isStoreAway(error) || left <= 0) throw error
      onPhase?.('it waits for ClickHouse')
      if (now - noticedAt >= NOTICE_INTERVAL_MS) {
        const limit = left === Infinity ? '' : ` for ${Math.round(left / SECOND_MS)} s`
        onNotice?.('warn', `ClickHouse does not respond at ${url}: retrying${limit}`)
        noticedAt = now
      }
    }
    await sleep(RETRY_INTERVAL_MS, undefined, { signal: stop })
  }
}

/** Returns whether an error, or what caused it, means that the store went away. */
export function isStoreAway(error: unknown): boolean {
  return (
    isUnreachable(error) ||
    error instanceof IncompleteResponseError ||
    error instanceof LeaseLostError ||
    (error instanceof Error && error.cause !== undefined && isStoreAway(error.cause))
  )
}
