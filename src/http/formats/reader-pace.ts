/** How fast the reader of a stream takes it: whether it may keep its place while others wait for one. */
import { ApiError } from '../../contract/errors.js'
import { SECOND_MS } from '../../lib/time.js'

/** How slow a reader may be while others wait for its place. */
export interface PaceLimits {
  readonly bytesPerSecond: number
  /** For how many milliseconds a reader may be slower. */
  readonly patienceMs: number
}

/** The pace that readers have to keep while others wait. A connection takes up to a megabyte at a time, so patience is that long. */
export const LEAST_PACE: PaceLimits = { bytesPerSecond: 64_000, patienceMs: 20 * SECOND_MS }

export interface ReaderPace {
  /** Aborts when the stream has to end for another. */
  readonly signal: AbortSignal
  /** Whether the reader has been too slow for too long. The time in which there was nothing to take does not count. */
  isSlow(): boolean
  /** Ends the stream. */
  end(): void
  /** Passes chunks on, and measures how long the reader takes for them. */
  measure(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array>
}

/** The size of the pieces in which chunks are passed on: the time for a large one says little about the bytes taken from it. */
const PIECE_BYTES = 65_536

/** @param now a monotonic clock, in milliseconds */
export function createReaderPace(
  { bytesPerSecond, patienceMs }: PaceLimits,
  now: () => number,
): ReaderPace {
  const controller = new AbortController()
  let patience = patienceMs
  let offeredAt: number | undefined
  const getPatience = (): number =>
    Math.max(0, patience - (offeredAt === undefined ? 0 : now() - offeredAt))
  return {
    signal: controller.signal,
    isSlow: () => getPatience() === 0,
    end: () => controller.abort(createSlowReaderError(bytesPerSecond)),
    async *measure(chunks) {
      for await (const chunk of chunks) {
        for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
          const piece = chunk.subarray(start, start + PIECE_BYTES)
          offeredAt = now()
          yield piece
          const earned = (piece.length / bytesPerSecond) * SECOND_MS
          patience = Math.min(patienceMs, getPatience() + earned)
          offeredAt = undefined
        }
      }
    },
  }
}

const createSlowReaderError = (bytesPerSecond: number): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    `The client took fewer than ${bytesPerSecond / 1_000} kB a second while another request waited.`,
  )
