/** Remembers verified tokens, because verifying a signature costs more than the rest of a request. */
import { decodeJwt } from 'jose'
import type { Keyring } from './keyring.js'
import { createLookups } from '../lib/lookups.js'
import { SECOND_MS } from '../lib/time.js'
import { verifyToken, type Principal } from './token.js'

interface Verified {
  readonly principal: Principal
  /** Seconds since 1970; undefined for a key that does not expire. */
  readonly expiresAt: number | undefined
}

const MAX_CACHED_TOKENS = 10_000

interface TokenVerifier {
  /** Verifies a token as `verifyToken` does. */
  readonly verify: (token: string, now: Date) => Promise<Principal | undefined>
  /**
   * Returns what `verify` found out about a token when it last did, however long ago; undefined for one that it does not
   * know, and for one that has expired.
   */
  readonly recall: (token: string, now: Date) => Principal | undefined
}

/**
 * Creates a `verifyToken` that remembers valid tokens, as `Lookups` does. A key has exactly one token, so the token is the name.
 * Invalid tokens are not remembered: a token is valid as soon as the store has its public key. A remembered token is rejected as
 * soon as it expires.
 *
 * @param clock returns milliseconds
 */
export function createTokenVerifier(
  keyring: Keyring,
  clock: () => number = () => performance.now(),
): TokenVerifier {
  const tokens = createLookups<Verified>({ now: clock, maxFound: MAX_CACHED_TOKENS, maxMissing: 0 })
  return {
    recall: (token, now) => requireTime(tokens.recall(token), now),
    verify: async (token, now) =>
      requireTime(await tokens.find(token, () => verify(token, keyring, now)), now),
  }
}

async function verify(token: string, keyring: Keyring, now: Date): Promise<Verified | undefined> {
  const principal = await verifyToken(token, keyring, now)
  return principal && { principal, expiresAt: decodeJwt(token).exp }
}

/** Returns the key of a verified token; undefined when it has expired. */
const requireTime = (verified: Verified | undefined, now: Date): Principal | undefined =>
  verified?.expiresAt === undefined || now.getTime() < verified.expiresAt * SECOND_MS
    ? verified?.principal
    : undefined
