/** Asks the store whether an API key is in force, at most once in a few seconds a key. */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../contract/errors.js'
import type { Connection } from '../clickhouse/connection.js'
import { toStoreError } from '../clickhouse/errors.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import type { StoredProject } from '../projects/project.js'
import { projectOf, PROJECT_COLUMNS, type ProjectRow } from '../projects/row.js'
import type { Principal } from './token.js'

/** The project of a key in force; null for a key that is revoked or was never issued. */
export type LookUp = (principal: Principal) => Promise<StoredProject | null>

/** How long what was found out about a key counts, in milliseconds from the moment it was asked. */
export const KEY_LIFETIME_MS = 4_000
/** How long the store may take before the caller is told that it does not answer. */
const PATIENCE_MS = 1_000
const MOST_KEYS = 10_000

/**
 * A look-up that remembers. Callers that ask for one key at once share one question, and failures
 * are not remembered.
 *
 * @throws ApiError SERVICE_UNAVAILABLE when the store does not answer.
 */
export function createLookUp(reader: Connection): LookUp {
  const cache = new LRUCache<string, { project: StoredProject | null }, Principal>({
    max: MOST_KEYS,
    ttl: KEY_LIFETIME_MS,
    // A key that is forgotten while it is looked up still gets its answer.
    ignoreFetchAbort: true,
    fetchMethod: async (_id, _stale, { options, context }) => {
      const asked = performance.now()
      const project = await readProject(reader, context)
      options.ttl = Math.max(1, KEY_LIFETIME_MS - (performance.now() - asked))
      return { project }
    },
  })
  return async (principal) => {
    const id = `${principal.projectId}/${principal.keyId}`
    const { project } = await cache.forceFetch(id, { context: principal })
    return project
  }
}

async function readProject(
  reader: Connection,
  { keyId, projectId }: Principal,
): Promise<StoredProject | null> {
  const inForce = sql`
    SELECT project_id FROM api_keys FINAL
    WHERE id = ${string(keyId)} AND project_id = ${string(projectId)} AND isNull(revoked_at)`
  try {
    const { rows } = await reader.query<ProjectRow>(
      statement(sql`
        SELECT ${PROJECT_COLUMNS} FROM projects FINAL
        WHERE id = ${string(projectId)} AND id IN (${inForce})`),
      { signal: AbortSignal.timeout(PATIENCE_MS), settings: { max_threads: 1 } },
    )
    const [row] = rows
    return row === undefined ? null : projectOf(row)
  } catch (cause) {
    // Too expensive or too slow is never this question, but what else the store has to do.
    const failure = toStoreError(cause)
    throw failure.code === 'INTERNAL_ERROR' ? failure : keysUnavailable(cause)
  }
}

/** The error for a key of which nobody can tell whether it is good. */
export const keysUnavailable = (cause: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'API keys cannot be checked right now. Try again in a moment.',
    {
      cause,
      headers: { 'Retry-After': '1' },
    },
  )
