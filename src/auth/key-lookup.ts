/** Looks up in the store whether an API key is valid, and caches the result for a few seconds. */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../contract/errors.js'
import { isScope, type Scope } from '../contract/scopes.js'
import type { Connection } from '../clickhouse/connection.js'
import { toStoreError } from '../clickhouse/errors.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import type { StoredProject } from '../projects/project.js'
import { toStoredProject, PROJECT_COLUMNS, type ProjectRow } from '../projects/row.js'
import type { Principal } from './token.js'

/** A valid key, as the store has it. */
export interface FoundKey {
  readonly project: StoredProject
  /** What the key may do. */
  readonly scopes: readonly Scope[]
}

export interface KeyLookup {
  /** Finds a valid key; null for one that was revoked, is not in the store, or whose project is being deleted. */
  readonly find: (principal: Principal) => Promise<FoundKey | null>
  /** Returns what `find` found last, however long ago; undefined when it knows nothing. */
  readonly recall: (principal: Principal) => FoundKey | undefined
}

/**
 * How long the result of a lookup is used, in milliseconds from the start of the lookup. The lookup may take as long: a
 * store that is slow is no reason to refuse a key.
 */
export const KEY_CACHE_TTL_MS = 4_000
const MAX_CACHED_KEYS = 10_000

/**
 * Creates a lookup with a cache. Concurrent lookups of one key share one query, and failures are not cached. The
 * lookup rejects with an ApiError SERVICE_UNAVAILABLE when the store does not answer.
 *
 * @param clock returns milliseconds
 */
export function createKeyLookup(
  reader: Connection,
  clock: () => number = () => performance.now(),
): KeyLookup {
  const cache = new LRUCache<string, { key: FoundKey | null }, Principal>({
    max: MAX_CACHED_KEYS,
    ttl: KEY_CACHE_TTL_MS,
    perf: { now: clock },
    ttlResolution: 0,
    // A key that is evicted during its lookup still gets the result.
    ignoreFetchAbort: true,
    fetchMethod: async (_id, _stale, { options, context }) => {
      const begun = clock()
      const key = await readKey(reader, context)
      options.ttl = Math.max(1, KEY_CACHE_TTL_MS - (clock() - begun))
      return { key }
    },
  })
  return {
    find: async (principal) => {
      const { key } = await cache.forceFetch(toCacheKey(principal), { context: principal })
      return key
    },
    recall: (principal) =>
      cache.peek(toCacheKey(principal), { allowStale: true })?.key ?? undefined,
  }
}

const toCacheKey = ({ projectId, keyId }: Principal): string => `${projectId}/${keyId}`

async function readKey(
  reader: Connection,
  { keyId, projectId }: Principal,
): Promise<FoundKey | null> {
  // Without a valid key, the array is empty.
  const scopesOfKey = sql`
    SELECT any(scopes) FROM api_keys FINAL
    WHERE id = ${string(keyId)} AND project_id = ${string(projectId)} AND isNull(revoked_at)`
  try {
    const { rows } = await reader.query<ProjectRow & { readonly key_scopes: readonly string[] }>(
      statement(sql`
        SELECT ${PROJECT_COLUMNS}, (${scopesOfKey}) AS key_scopes FROM projects FINAL
        WHERE id = ${string(projectId)} AND NOT is_deleting AND notEmpty(key_scopes)`),
      { signal: AbortSignal.timeout(KEY_CACHE_TTL_MS), settings: { max_threads: 1 } },
    )
    const [row] = rows
    return row === undefined
      ? null
      : { project: toStoredProject(row), scopes: row.key_scopes.filter(isScope) }
  } catch (cause) {
    // This query is cheap. If it is too slow or too expensive, the store is overloaded.
    const failure = toStoreError(cause)
    throw failure.code === 'INTERNAL_ERROR' ? failure : createKeysUnavailableError(cause)
  }
}

/** Creates the error for a key that cannot be checked. */
export const createKeysUnavailableError = (cause: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'API keys cannot be checked right now. Try again in a moment.',
    { cause },
  )
