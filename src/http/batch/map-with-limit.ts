/** Does the same work for each item of a list, some at a time. */
import { settleAll } from '../../lib/settle.js'

/**
 * Maps items, of which at most `limit` are worked on at a time, begun in their order. After an error no other is begun.
 *
 * @returns the results in the order of the items
 * @throws the error of the first work that failed, after all that were begun have ended
 */
export async function mapWithLimit<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const remaining = items.entries()
  let hasFailed = false
  const runNext = async (): Promise<void> => {
    for (const [i, item] of remaining) {
      try {
        results[i] = await work(item, i)
      } catch (error) {
        hasFailed = true
        throw error
      }
      if (hasFailed) return
    }
  }
  await settleAll(Array.from({ length: limit }, runNext))
  return results
}
