/** Finds the project of a public token, asking the store at most once in a few seconds a token. */
import { LRUCache } from 'lru-cache'
import type { Connection } from '../../clickhouse/connection.js'
import { toStoreError } from '../../clickhouse/errors.js'
import { ApiError } from '../../contract/errors.js'
import type { StoredProject } from '../../projects/project.js'
import { findProjectByToken } from '../../projects/store.js'

/**
 * The project of a public token.
 *
 * @throws ApiError UNAUTHORIZED for a token of no project, SERVICE_UNAVAILABLE when that cannot be told.
 */
export type FindProject = (token: string) => Promise<StoredProject>

/** How long what was found out about a token counts, in milliseconds from the moment it was asked. */
const TOKEN_LIFETIME_MS = 4_000
/** How long the store may take before the caller is told that it does not answer. */
const PATIENCE_MS = 1_000
const MOST_TOKENS = 10_000
/** Whoever makes up tokens must not keep the store busy. */
const MOST_AT_ONCE = 100
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/

/** A look-up that remembers. Callers that ask for one token at once share one question; failures are forgotten. */
export function createFindProject(reader: Connection): FindProject {
  let underWay = 0
  const cache = new LRUCache<string, { project: StoredProject | undefined }>({
    max: MOST_TOKENS,
    ttl: TOKEN_LIFETIME_MS,
    // A token that is forgotten while it is looked up still gets its answer.
    ignoreFetchAbort: true,
    fetchMethod: async (token, _stale, { options }) => {
      if (underWay >= MOST_AT_ONCE) throw tokensUnavailable(undefined)
      const asked = performance.now()
      underWay += 1
      const project = await readProject(reader, token).finally(() => (underWay -= 1))
      options.ttl = Math.max(1, TOKEN_LIFETIME_MS - (performance.now() - asked))
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
      signal: AbortSignal.timeout(PATIENCE_MS),
      settings: { max_threads: 1 },
    })
  } catch (cause) {
    const failure = toStoreError(cause)
    throw failure.code === 'INTERNAL_ERROR' ? failure : tokensUnavailable(cause)
  }
}

/** The error for a token that is missing, of no project, or one of two. */
export const invalidTokenError = (): ApiError =>
  new ApiError('UNAUTHORIZED', 'The public token is missing or not valid.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  })

const tokensUnavailable = (cause: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'Public tokens cannot be checked right now. Try again in a moment.',
    { cause, headers: { 'Retry-After': '1' } },
  )
