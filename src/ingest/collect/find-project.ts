/** Finds the project of a public token. Results are cached for a few seconds. */
import { LRUCache } from 'lru-cache'
import type { Connection } from '../../clickhouse/connection.js'
import { toStoreError } from '../../clickhouse/errors.js'
import { ApiError } from '../../contract/errors.js'
import type { StoredProject } from '../../projects/project.js'
import { findProjectByToken } from '../../projects/store.js'

/**
 * Finds the project of a public token.
 *
 * @throws ApiError UNAUTHORIZED if no project has the token, SERVICE_UNAVAILABLE if the store does not answer
 */
export type FindProject = (token: string) => Promise<StoredProject>

/** The time that a result is cached, counted from the start of its lookup. */
const CACHE_TTL_MS = 4_000
const LOOKUP_TIMEOUT_MS = 1_000
const MAX_CACHED_TOKENS = 10_000
/** Limits the load that invented tokens can put on the store. */
const MAX_CONCURRENT_LOOKUPS = 100
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/

/**
 * Creates a `FindProject` with a cache. Unknown tokens are cached like known ones; errors are not cached. Concurrent
 * calls for one token share a lookup.
 */
export function createFindProject(reader: Connection): FindProject {
  let lookups = 0
  const cache = new LRUCache<string, { project: StoredProject | undefined }>({
    max: MAX_CACHED_TOKENS,
    ttl: CACHE_TTL_MS,
    // A lookup whose token is evicted meanwhile still completes.
    ignoreFetchAbort: true,
    fetchMethod: async (token, _stale, { options }) => {
      if (lookups >= MAX_CONCURRENT_LOOKUPS) throw lookupUnavailableError(undefined)
      const start = performance.now()
      lookups += 1
      const project = await readProject(reader, token).finally(() => (lookups -= 1))
      options.ttl = Math.max(1, CACHE_TTL_MS - (performance.now() - start))
      return { project }
    },
  })
  return async (token) => {
    if (!TOKEN.test(token)) throw invalidTokenError()
    const { project } = cache.get(token) ?? (await cache.forceFetch(token))
    if (project === undefined) throw invalidTokenError()
    return project
  }
}

async function readProject(reader: Connection, token: string): Promise<StoredProject | undefined> {
  try {
    return await findProjectByToken(reader, token, {
      signal: AbortSignal.timeout(LOOKUP_TIMEOUT_MS),
      settings: { max_threads: 1 },
    })
  } catch (cause) {
    const error = toStoreError(cause)
    throw error.code === 'INTERNAL_ERROR' ? error : lookupUnavailableError(cause)
  }
}

/** The error for a token that is missing, unknown, or in conflict with another token of the request. */
export const invalidTokenError = (): ApiError =>
  new ApiError('UNAUTHORIZED', 'The public token is missing or not valid.')

const lookupUnavailableError = (cause: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'Public tokens cannot be checked right now. Try again in a moment.',
    { cause },
  )
