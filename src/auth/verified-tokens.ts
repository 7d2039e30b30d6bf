/** Caches verified tokens for 4 seconds, because verifying a signature costs more than the rest of a request. */
import { decodeJwt } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Keyring } from './keyring.js'
import { KEY_CACHE_TTL_MS } from './key-lookup.js'
import { SECOND_MS } from '../lib/time.js'
import { verifyToken, type Principal } from './token.js'

interface Verified {
  readonly principal: Principal
  /** Seconds since 1970; undefined for a key that does not expire. */
  readonly expiresAt: number | undefined
}

const MAX_CACHED_TOKENS = 10_000

export interface TokenVerifier {
  /** Verifies a token as `verifyToken` does. */
  readonly verify: (token: string, now: Date) => Promise<Principal | undefined>
  /**
   * Returns what `verify` found out about a token when it last did, however long ago; undefined for one that it does not
   * know, and for one that has expired.
   */
  readonly recall: (token: string, now: Date) => Principal | undefined
}

/**
 * Creates a `verifyToken` with a cache. A key has exactly one token, so the token is the cache key. Invalid tokens are
 * not cached, and a cached token is rejected as soon as it expires.
 *
 * @param clock returns milliseconds
 */
export function createTokenVerifier(
  keyring: Keyring,
  clock: () => number = () => performance.now(),
): TokenVerifier {
  const verified = new LRUCache<string, Verified>({
    max: MAX_CACHED_TOKENS,
    ttl: KEY_CACHE_TTL_MS,
    perf: { now: clock },
    ttlResolution: 0,
    noDeleteOnStaleGet: true,
  })
  return {
    recall: (token, now) => requireTime(verified.peek(token, { allowStale: true }), now),
    verify: async (token, now) => {
      const known = verified.get(token)
      if (known !== undefined) return requireTime(known, now)
      const principal = await verifyToken(token, keyring, now)
      if (principal !== undefined) {
        verified.set(token, { principal, expiresAt: decodeJwt(token).exp })
      }
      return principal
    },
  }
}

/** Returns the key of a verified token; undefined when it has expired. */
const requireTime = (verified: Verified | undefined, now: Date): Principal | undefined =>
  verified?.expiresAt === undefined || now.getTime() < verified.expiresAt * SECOND_MS
    ? verified?.principal
    : undefined
