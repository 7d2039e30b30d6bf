/** Finds the project of a public token. Made-up tokens cannot keep known ones from being found. */
import { readBriefly } from '../../clickhouse/brief-read.js'
import type { Connection } from '../../clickhouse/connection.js'
import { recognizeCredential } from '../../contract/bearer.js'
import { ApiError } from '../../contract/errors.js'
import { createLookups } from '../../lib/lookups.js'
import { MINUTE_MS } from '../../lib/time.js'
import type { StoredProject } from '../../projects/project.js'
import { inspectToken } from '../../projects/public-token.js'
import { findProjectByToken } from '../../projects/store.js'

/**
 * Finds the project of a public token.
 *
 * @throws ApiError UNAUTHORIZED if no project has the token, SERVICE_UNAVAILABLE if the store does not answer
 */
export type FindProject = (token: string) => Promise<StoredProject>

/**
 * The time that a known token is still accepted while it is looked up again, or while the store is away: events would be lost
 * otherwise.
 */
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

/**
 * Creates a `FindProject` that remembers tokens, as `Lookups` does.
 *
 * @param clock returns milliseconds
 */
export function createFindProject(
  reader: Connection,
  clock: () => number = () => performance.now(),
): FindProject {
  const projects = createLookups<StoredProject, 'right' | 'none'>({
    now: clock,
    maxFound: MAX_KNOWN_TOKENS,
    maxMissing: MAX_UNKNOWN_TOKENS,
    staleMs: STALE_MS,
    lanes: {
      places: PLACES,
      choose: (token) => (inspectToken(token) === 'right' ? 'right' : 'none'),
      maxWaiting: MAX_WAITING,
      refuse: () => lookupUnavailableError(undefined),
    },
  })
  return async (token) => {
    if (recognizeCredential(token) === 'API key') throw createApiKeyError()
    if (!TOKEN.test(token) || inspectToken(token) === 'wrong') throw invalidTokenError()
    const project = await projects.find(token, () => readProject(reader, token))
    if (project === undefined) throw invalidTokenError()
    return project
  }
}

const readProject = (reader: Connection, token: string): Promise<StoredProject | undefined> =>
  readBriefly((options) => findProjectByToken(reader, token, options), lookupUnavailableError)

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
