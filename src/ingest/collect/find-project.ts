/** Finds the project of a public token. Made-up tokens cannot keep known ones from being found. */
import { LRUCache } from 'lru-cache'
import type { Connection } from '../../clickhouse/connection.js'
import { toStoreError } from '../../clickhouse/errors.js'
import { recognizeCredential } from '../../contract/bearer.js'
import { ApiError } from '../../contract/errors.js'
import { mapRecord } from '../../lib/records.js'
import { MINUTE_MS, SECOND_MS } from '../../lib/time.js'
import type { StoredProject } from '../../projects/project.js'
import { inspectToken } from '../../projects/public-token.js'
import { findProjectByToken } from '../../projects/store.js'

/**
 * Finds the project of a public token.
 *
 * @throws ApiError UNAUTHORIZED if no project has the token, SERVICE_UNAVAILABLE if the store does not answer
 */
export type FindProject = (token: string) => Promise<StoredProject>

/** The time that a result is used, counted from the start of its lookup. The lookup may take as long. */
const CACHE_TTL_MS = 4 * SECOND_MS
/** The time that a known token is still accepted while it is looked up again, or while the store is away. */
const STALE_MS = MINUTE_MS
const MAX_KNOWN_TOKENS = 10_000
const MAX_UNKNOWN_TOKENS = 50_000
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/

/**
 * How many lookups may run at once: of tokens that were valid before, and of others by their check sum. There are few for
 * the others, because made-up tokens must not keep the store busy.
 */
const PLACES = { known: 16, right: 4, none: 4 }
/** How many lookups may wait for a place. */
const MAX_WAITING = 500

type Lookup = Promise<StoredProject | undefined>

interface KnownToken {
  readonly project: StoredProject
  /** When the lookup started, in milliseconds of the clock. */
  readonly at: number
}

/**
 * Creates a `FindProject` with a cache. Unknown tokens have a cache of their own; errors are not cached.
 *
 * @param clock returns milliseconds
 */
export function createFindProject(
  reader: Connection,
  clock: () => number = () => performance.now(),
): FindProject {
  const known = new LRUCache<string, KnownToken>({ max: MAX_KNOWN_TOKENS })
  const unknown = new LRUCache<string, number>({ max: MAX_UNKNOWN_TOKENS })
  const lookUp = createLookups(async (token) => {
    const at = clock()
    const project = await readProject(reader, token)
    if (project === undefined) unknown.set(token, at)
    if (project === undefined) known.delete(token)
    else known.set(token, { project, at })
    return project
  })

  async function findAgain(token: string, { project, at }: KnownToken): Lookup {
    const age = clock() - at
    if (age < CACHE_TTL_MS) return project
    const lookup = lookUp(token, 'known')
    if (age >= STALE_MS) return lookup
    lookup.catch(() => undefined)
    return project
  }

  return async (token) => {
    if (recognizeCredential(token) === 'API key') throw createApiKeyError()
    const checkSum = TOKEN.test(token) ? inspectToken(token) : 'wrong'
    if (checkSum === 'wrong') throw invalidTokenError()
    const entry = known.get(token)
    const isUnknown = clock() - (unknown.get(token) ?? -Infinity) < CACHE_TTL_MS
    if (entry === undefined && isUnknown) throw invalidTokenError()
    const project = await (entry === undefined ? lookUp(token, checkSum) : findAgain(token, entry))
    if (project === undefined) throw invalidTokenError()
    return project
  }
}

/** Limits the lookups that run at once. Concurrent calls for one token share a lookup. */
function createLookups(
  read: (token: string) => Lookup,
): (token: string, lane: keyof typeof PLACES) => Lookup {
  const lanes = mapRecord(PLACES, (_, places) => createLane(places))
  const running = new Map<string, Lookup>()
  return (token, lane) => {
    const shared = running.get(token)
    if (shared !== undefined) return shared
    const lookup = lanes[lane](() => read(token)).finally(() => running.delete(token))
    running.set(token, lookup)
    return lookup
  }
}

type Lane = (read: () => Lookup) => Lookup

/** Creates a lane with some places. Who finds none free waits for one, but not longer than a lookup may take. */
function createLane(places: number): Lane {
  let free = places
  const waiting: (() => void)[] = []
  return async (read) => {
    const begun = performance.now()
    if (free > 0) free -= 1
    else if (waiting.length < MAX_WAITING) await new Promise<void>((go) => waiting.push(go))
    else throw lookupUnavailableError(undefined)
    try {
      if (performance.now() - begun > CACHE_TTL_MS) throw lookupUnavailableError(undefined)
      return await read()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

async function readProject(reader: Connection, token: string): Promise<StoredProject | undefined> {
  try {
    return await findProjectByToken(reader, token, {
      signal: AbortSignal.timeout(CACHE_TTL_MS),
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

const createApiKeyError = (): ApiError =>
  new ApiError(
    'UNAUTHORIZED',
    'This is an API key, which only reads. Send events with the public token of the project: `tallyhouse project show` prints it. An API key is a secret: never put it into a page.',
  )

const lookupUnavailableError = (cause: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'Public tokens cannot be checked right now. Try again in a moment.',
    { cause },
  )
