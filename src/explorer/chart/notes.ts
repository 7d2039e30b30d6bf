/** Where notes lie on the chart. */
import type { Note } from '../../contract/management-api.js'

/** The notes of each bucket that has one, by the index of the bucket. @param labels the starts of the buckets */
export function placeNotes(
  notes: readonly Pick<Note, 'at' | 'text'>[],
  labels: readonly string[],
): ReadonlyMap<number, readonly string[]> {
  const starts = labels.map((label) => Date.parse(label))
  const placed = new Map<number, readonly string[]>()
  for (const { at, text } of notes) {
    const moment = Date.parse(at)
    // What began before the first bucket goes on in it.
    const index = Math.max(
      0,
      starts.findLastIndex((start) => start <= moment),
    )
    if (starts.length > 0) placed.set(index, [...(placed.get(index) ?? []), text])
  }
  return placed
}
