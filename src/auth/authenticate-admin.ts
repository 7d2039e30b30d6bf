/** Authenticates the requests of admin keys. */
import { timingSafeEqual } from 'node:crypto'
import { createBriefOptions } from '../clickhouse/brief-read.js'
import type { Store } from '../clickhouse/store.js'
import { parseBearerToken, recognizeCredential, type CredentialKind } from '../contract/bearer.js'
import { ApiError } from '../contract/errors.js'
import { createKnownValues } from '../lib/known-values.js'
import { MINUTE_MS } from '../lib/time.js'
import {
  hashAdminKey,
  parseAdminKey,
  readAdminKeys,
  recordUse,
  type AdminKey,
  type StoredAdminKey,
} from './admin-keys.js'
import { createKeysUnavailableError } from './key-lookup.js'

export interface AdminAuthenticator {
  /** Returns whether the store has an admin key that is valid. @throws ApiError SERVICE_UNAVAILABLE */
  readonly isEnabled: () => Promise<boolean>
  /**
   * Finds the admin key of an Authorization header. What it may do is at most 4 seconds old.
   *
   * @throws ApiError UNAUTHORIZED for a missing or invalid key, SERVICE_UNAVAILABLE if it cannot be checked
   */
  readonly authenticate: (header: string | undefined) => Promise<AdminKey>
}

/** Creates the authenticator. @param now the clock by which keys expire */
export function createAdminAuthenticator(
  { writer }: Pick<Store, 'writer'>,
  now: () => Date,
): AdminAuthenticator {
  const keys = createKnownValues(async (): Promise<ReadonlyMap<string, StoredAdminKey>> => {
    const stored = await readAdminKeys(writer, createBriefOptions())
    return new Map(stored.filter((key) => isValid(key, now())).map((key) => [key.id, key]))
  })
  const noteUse = createUseRecorder(writer, now)
  return {
    isEnabled: async () => !(await unlessAway(keys.isEmpty())),
    authenticate: async (header) => {
      const secret = parseBearerToken(header)
      const id = secret === undefined ? undefined : parseAdminKey(secret)
      if (secret === undefined || id === undefined) throw createUnauthorizedError(secret)
      const key = await unlessAway(keys.find(id))
      if (key === undefined || !isValid(key, now()) || !hasHash(secret, key.hash)) {
        throw createUnauthorizedError(secret)
      }
      noteUse(key.id)
      return key
    },
  }
}

const isValid = ({ expiresAt, revokedAt }: AdminKey, now: Date): boolean =>
  revokedAt === null && (expiresAt === null || now < expiresAt)

/** Compares in constant time. */
const hasHash = (secret: string, hash: string): boolean =>
  timingSafeEqual(Buffer.from(hashAdminKey(secret)), Buffer.from(hash))

const unlessAway = <Value>(read: Promise<Value>): Promise<Value> =>
  read.catch((cause: unknown) => {
    throw createKeysUnavailableError(cause)
  })

function createUnauthorizedError(secret: string | undefined): ApiError {
  const kind = secret === undefined ? undefined : recognizeCredential(secret)
  const hint = kind === undefined ? '' : HINTS[kind]
  return new ApiError('UNAUTHORIZED', `The admin key is missing or not valid.${hint}`)
}

/** What is said of another credential. */
const HINTS: Readonly<Record<CredentialKind, string>> = {
  'admin key': '',
  'API key': ' This is an API key, which reads one project.',
  'public token': ' This is a public token, which sends events.',
}

/** Records the use of each key at most once a minute. A store that is away misses it. */
function createUseRecorder(writer: Store['writer'], now: () => Date): (id: string) => void {
  const recorded = new Map<string, number>()
  return (id) => {
    const at = now()
    if (at.getTime() - (recorded.get(id) ?? -Infinity) < MINUTE_MS) return
    recorded.set(id, at.getTime())
    void recordUse(writer, id, at).catch(() => recorded.delete(id))
  }
}
