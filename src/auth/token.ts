/** The text of an API key: a compact JWS that is signed with Ed25519. */
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose'
import { ALGORITHM, KID } from './jwk.js'
import type { Keyring } from './keyring.js'
import type { SigningKey } from './signing-key.js'

/** Whom an API key speaks for. */
export interface Principal {
  readonly keyId: string
  readonly projectId: string
}

/** Keeps other kinds of JWT that the same key might sign from passing for an API key. */
const TYPE = 'tallyhouse-key+jwt'
const ISSUER = 'tallyhouse'

/**
 * Three parts in base64url. A signature of 64 bytes leaves the last of its 86 characters four values:
 * with any other one it would decode to the same bytes and be a second text of the same key.
 */
const TOKEN = /^[A-Za-z0-9_-]{1,512}\.[A-Za-z0-9_-]{1,1024}\.[A-Za-z0-9_-]{85}[AQgw]$/
const ID = /^[A-Za-z0-9_-]{1,64}$/
/** The most that the clock of an issuer may be ahead. */
const CLOCK_SKEW_SECONDS = 60

/** Makes the text of a key. It is shown once and kept nowhere. */
export async function signToken(
  { kid, key }: SigningKey,
  { keyId, projectId }: Principal,
  issuedAt: Date,
  expiresAt: Date | null,
): Promise<string> {
  const token = new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .setIssuer(ISSUER)
    .setSubject(projectId)
    .setJti(keyId)
    .setIssuedAt(issuedAt)
  if (expiresAt !== null) token.setExpirationTime(expiresAt)
  return token.sign(key)
}

/**
 * Whom a text speaks for; undefined when it is no key of ours, or one that has expired.
 *
 * @throws when the keyring cannot tell.
 */
export async function verifyToken(
  token: string,
  keyring: Keyring,
  now: Date,
): Promise<Principal | undefined> {
  if (!TOKEN.test(token)) return undefined
  const kid = keyIdOf(token)
  const key = kid === undefined ? undefined : await keyring.find(kid)
  if (key === undefined) return undefined
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      typ: TYPE,
      issuer: ISSUER,
      requiredClaims: ['sub', 'jti', 'iat'],
      currentDate: now,
    })
    const { sub: projectId, jti: keyId, iat = Infinity } = payload
    if (iat > now.getTime() / 1000 + CLOCK_SKEW_SECONDS) return undefined
    return isId(projectId) && isId(keyId) ? { keyId, projectId } : undefined
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

/** The `kid` of a header. jose takes a token without one where a single key fits. */
function keyIdOf(token: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(token)
    return typeof kid === 'string' && KID.test(kid) ? kid : undefined
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** A claim can be anything that JSON can, whatever its type says. */
const isId = (claim: unknown): claim is string => typeof claim === 'string' && ID.test(claim)
