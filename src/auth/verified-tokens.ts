/** Caches verified tokens for 4 seconds, because verifying a signature costs more than the rest of a request. */
import { decodeJwt } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Keyring } from './keyring.js'
import { KEY_CACHE_TTL_MS } from './key-lookup.js'
import { verifyToken, type Principal } from './token.js'

interface Verified {
  readonly principal: Principal
  /** Seconds since 1970; undefined for a key that does not expire. */
  readonly expiresAt: number | undefined
}

const MAX_CACHED_TOKENS = 10_000

/**
 * Creates a `verifyToken` with a cache. A key has exactly one token, so the token is the cache key. Invalid tokens are
 * not cached, and a cached token is rejected as soon as it expires.
 */
export function createTokenVerifier(
  keyring: Keyring,
): (token: string, now: Date) => Promise<Principal | undefined> {
  const verified = new LRUCache<string, Verified>({ max: MAX_CACHED_TOKENS, ttl: KEY_CACHE_TTL_MS })
  return async (token, now) => {
    const known = verified.get(token)
    if (known !== undefined) {
      return known.expiresAt === undefined || now.getTime() < known.expiresAt * 1_000
        ? known.principal
        : undefined
    }
    const principal = await verifyToken(token, keyring, now)
    if (principal !== undefined) {
      verified.set(token, { principal, expiresAt: decodeJwt(token).exp })
    }
    return principal
  }
}
