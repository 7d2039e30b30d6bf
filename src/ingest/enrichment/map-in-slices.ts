/** Long computations in slices, between which the process answers requests. */
import { setImmediate as yieldToEvents } from 'node:timers/promises'

/** The longest that a slice keeps the process from other work, unless a single item takes longer. */
const MAX_SLICE_MS = 5

/** Maps items like `Array.map`, but lets other work run every few milliseconds. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  let start = performance.now()
  for (const item of items) {
    if (performance.now() - start >= MAX_SLICE_MS) {
      await yieldToEvents()
      start = performance.now()
    }
    results.push(map(item))
  }
  return results
}
