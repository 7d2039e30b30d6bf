/** The responses that the page keeps, by query, so that it requests only what changed. */
import type { BatchResult, Query } from './contract.js'
import { mayPass } from './failure.js'

/** How long a kept response counts as fresh. */
const FRESH_MS = 4 * 60_000
/** The same for the number of current visitors. */
const FRESH_NOW_MS = 9_000

export interface Responses {
  /** Lists the queries without a fresh response. A refusal stays: only another query may have another response. */
  readonly listMissing: (queries: readonly Query[], now: Date) => readonly Query[]
  /** Keeps the results of queries. */
  readonly keep: (queries: readonly Query[], results: readonly BatchResult[], now: Date) => void
  readonly get: (query: Query) => KeptResult | undefined
  /** Forgets all responses. */
  readonly clear: () => void
}

/** A result, and when it arrived. */
export interface KeptResult {
  readonly result: BatchResult
  readonly at: Date
}

/** Creates an empty store of responses. */
export function createResponses(): Responses {
  const kept = new Map<string, KeptResult>()
  const get = (query: Query): KeptResult | undefined => kept.get(identify(query))
  return {
    get,
    clear: () => kept.clear(),
    listMissing: (queries, now) =>
      queries.filter((query) => {
        const found = get(query)
        if (found === undefined) return true
        const { status } = found.result
        if (status !== 200) return mayPass(status)
        const isFreshFor = query.id === 'now' ? FRESH_NOW_MS : FRESH_MS
        return now.getTime() - found.at.getTime() > isFreshFor
      }),
    keep: (queries, results, at) => {
      for (const result of results) {
        const query = queries.find(({ id }) => id === result.id)
        if (query !== undefined) kept.set(identify(query), { result, at })
      }
      for (const [id] of kept) {
        if (kept.size <= MAX_RESPONSES) break
        kept.delete(id)
      }
    },
  }
}

const MAX_RESPONSES = 500

const identify = ({ operation, body }: Query): string => JSON.stringify([operation, body])
