/** Looks up in the store whether an API key is valid, and caches the result for a few seconds. */
import { ApiError } from '../contract/errors.js'
import { isScope, type Scope } from '../contract/scopes.js'
import { readBriefly } from '../clickhouse/brief-read.js'
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import { createLookups } from '../lib/lookups.js'
import type { StoredProject } from '../projects/project.js'
import { toStoredProject, PROJECT_COLUMNS, type ProjectRow } from '../projects/row.js'
import type { Principal } from './token.js'

/** A valid key, as the store has it. */
interface FoundKey {
  readonly project: StoredProject
  /** What the key may do. */
  readonly scopes: readonly Scope[]
}

interface KeyLookup {
  /** Finds a valid key; undefined for one that was revoked, is not in the store, or whose project is being deleted. */
  readonly find: (principal: Principal) => Promise<FoundKey | undefined>
  /** Returns what `find` found last, however long ago; undefined when it knows nothing. */
  readonly recall: (principal: Principal) => FoundKey | undefined
}

const MAX_CACHED_KEYS = 10_000

/**
 * Creates a lookup that remembers keys, as `Lookups` does. A key is never used for longer, so that a revoked one stops working
 * also while the store is away. Only signed keys get here, so their lookups need no lanes. The lookup rejects with an ApiError
 * SERVICE_UNAVAILABLE when the store does not answer.
 *
 * @param clock returns milliseconds
 */
export function createKeyLookup(
  reader: Connection,
  clock: () => number = () => performance.now(),
): KeyLookup {
  const keys = createLookups<FoundKey>({
    now: clock,
    maxFound: MAX_CACHED_KEYS,
    maxMissing: MAX_CACHED_KEYS,
  })
  return {
    find: (principal) => keys.find(toName(principal), () => readKey(reader, principal)),
    recall: (principal) => keys.recall(toName(principal)),
  }
}

const toName = ({ projectId, keyId }: Principal): string => `${projectId}/${keyId}`

async function readKey(
  reader: Connection,
  { keyId, projectId }: Principal,
): Promise<FoundKey | undefined> {
  // Without a valid key, the array is empty.
  const scopesOfKey = sql`
    SELECT any(scopes) FROM api_keys FINAL
    PREWHERE id = ${string(keyId)} WHERE project_id = ${string(projectId)} AND isNull(revoked_at)`
  const key = statement(sql`
    SELECT ${PROJECT_COLUMNS}, (${scopesOfKey}) AS key_scopes FROM projects FINAL
    PREWHERE id = ${string(projectId)} WHERE NOT is_deleting AND notEmpty(key_scopes)`)
  const { rows } = await readBriefly(
    (options) =>
      reader.query<ProjectRow & { readonly key_scopes: readonly string[] }>(key, options),
    createKeysUnavailableError,
  )
  const [row] = rows
  return row && { project: toStoredProject(row), scopes: row.key_scopes.filter(isScope) }
}

/** Creates the error for a key that cannot be checked. */
export const createKeysUnavailableError = (cause: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'API keys cannot be checked right now. Try again in a moment.',
    { cause },
  )
