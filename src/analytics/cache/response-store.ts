/** Keeps the rows of responses in memory. When room is short, it drops the least recently used. */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../../contract/errors.js'

/** What is known about a version of a project's data. It is learnt while requests are answered. */
export interface ProjectFacts {
  /** The moment of the first event; null without events. Undefined while it is unknown. */
  firstEventAt?: Date | null
  /** No event lies at this moment or later; undefined while no such moment is known. */
  emptyFrom?: Date
}

/** The rows of a response as the response has them, and the data that they were computed from. */
interface StoredResponse {
  readonly projectId: string
  readonly version: string
  readonly rows: string
}

export interface ResponseStore {
  /**
   * Returns the rows of a response; undefined if they are not kept, or were computed from another version of the data.
   *
   * @throws ApiError INTERNAL_ERROR for rows of another project
   */
  get(projectId: string, version: string, name: string): string | undefined
  /** Whether a response is kept, from whichever version of the data. */
  readonly has: (name: string) => boolean
  set(projectId: string, version: string, name: string, rows: string): void
  /** Returns what is known about a version of a project's data. The caller adds what it learns. */
  getFacts(projectId: string, version: string): ProjectFacts
  /** Returns how many bytes the responses take. */
  readonly countBytes: () => number
}

/** What an entry takes beside its texts. */
const ENTRY_BYTES = 500
/** A single answer may take this share of the room. */
const MAX_SHARE = 8
/** A service knows the facts of this many projects. */
const MAX_PROJECTS = 10_000

/** @param maxBytes the room for responses; 0 to keep none */
export function createResponseStore(maxBytes: number): ResponseStore {
  const responses =
    maxBytes === 0
      ? undefined
      : new LRUCache<string, StoredResponse>({
          maxSize: maxBytes,
          maxEntrySize: Math.max(1, Math.floor(maxBytes / MAX_SHARE)),
          // A character takes two bytes at most.
          sizeCalculation: ({ rows }, name) => 2 * (rows.length + name.length) + ENTRY_BYTES,
        })
  const known = new LRUCache<string, { readonly version: string; readonly facts: ProjectFacts }>({
    max: MAX_PROJECTS,
  })
  return {
    get: (projectId, version, name) => {
      const stored = responses?.get(name)
      if (stored === undefined) return undefined
      if (stored.projectId !== projectId) throw createMixedUpError()
      return stored.version === version ? stored.rows : undefined
    },
    has: (name) => responses?.has(name) ?? false,
    set: (projectId, version, name, rows) =>
      void responses?.set(name, { projectId, version, rows }),
    getFacts: (projectId, version) => {
      const current = known.get(projectId)
      if (current?.version === version) return current.facts
      const facts: ProjectFacts = {}
      known.set(projectId, { version, facts })
      return facts
    },
    countBytes: () => responses?.calculatedSize ?? 0,
  }
}

const createMixedUpError = (): ApiError =>
  new ApiError('INTERNAL_ERROR', 'Something went wrong.', {
    cause: new Error('the cache had an answer of another project under this name'),
  })
