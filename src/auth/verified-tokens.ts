/** Remembers for a moment which texts are good API keys: checking a signature costs more than the rest. */
import { decodeJwt } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Keyring } from './keyring.js'
import { KEY_LIFETIME_MS } from './key-lookup.js'
import { verifyToken, type Principal } from './token.js'

interface Verified {
  readonly principal: Principal
  /** Seconds since 1970; absent for a key that does not expire. */
  readonly expiresAt: number | undefined
}

const MOST_TOKENS = 10_000

/**
 * `verifyToken` that remembers good keys. A key has one text only, so the text can stand for it; what is
 * not a good key is not remembered, and an expired one is refused at its second.
 */
export function createVerifier(
  keyring: Keyring,
): (token: string, now: Date) => Promise<Principal | undefined> {
  const verified = new LRUCache<string, Verified>({ max: MOST_TOKENS, ttl: KEY_LIFETIME_MS })
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
