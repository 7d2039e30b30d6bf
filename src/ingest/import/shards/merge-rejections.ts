/** Brings the rejected rows of several streams into the order of their source. */
import type { Rejection } from '../../inbox/rejections.js'

interface RejectionMerge {
  /** Adds rejected rows of any stream. */
  readonly add: (rejections: readonly Rejection[]) => void
  /** Reports that a stream has no more rejected rows before `row`. Passes on the rows that no stream can come before. */
  readonly reach: (stream: number, row: number) => Promise<void>
}

/**
 * Creates the merge of `count` streams.
 *
 * @param pass gets the rows in order, one call after another; its error is thrown by `reach`
 */
export function mergeRejections(
  count: number,
  pass: (rejections: readonly Rejection[]) => Promise<void> | void,
): RejectionMerge {
  const reached = Array.from({ length: count }, () => 1)
  let waiting: Rejection[] = []
  let passing: Promise<void> = Promise.resolve()

  async function passOn(): Promise<void> {
    const end = Math.min(...reached)
    const ready = waiting.filter(({ row }) => row < end)
    if (ready.length === 0) return
    waiting = waiting.filter(({ row }) => row >= end)
    await pass(ready.sort((a, b) => a.row - b.row))
  }

  return {
    add: (rejections) => {
      waiting.push(...rejections)
    },
    reach: (stream, row) => {
      reached[stream] = row
      passing = passing.then(passOn)
      return passing
    },
  }
}
