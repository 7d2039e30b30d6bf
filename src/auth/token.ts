/**
 * The token of an API key: a prefix and a JWT in the compact serialization of JWS (RFC 7515 §3.1), signed with Ed25519.
 */
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose'
import { API_KEY_PREFIX } from '../contract/bearer.js'
import { ALGORITHM, KID } from './jwk.js'
import type { Keyring } from './keyring.js'
import type { SigningKey } from './signing-key.js'

/** The identity that an API key proves. */
export interface Principal {
  readonly keyId: string
  readonly projectId: string
}

/** Distinguishes API keys from other kinds of JWT that the same key might sign (RFC 8725 §3.11). */
const TYPE = 'tallyhouse-key+jwt'
const ISSUER = 'tallyhouse'

/**
 * The prefix, which keys of 0.1.0 lack, and three parts in base64url. The last of the 86 characters of a 64-byte
 * signature has four valid values. Any other value would decode to the same bytes.
 */
const TOKEN = new RegExp(
  `^(?:${API_KEY_PREFIX})?([A-Za-z0-9_-]{1,512}\\.[A-Za-z0-9_-]{1,1024}\\.[A-Za-z0-9_-]{85}[AQgw])$`,
)
const ID = /^[A-Za-z0-9_-]{1,64}$/
/** How far the issuer's clock may be ahead of this one, in seconds. */
const MAX_CLOCK_SKEW_S = 60

/** Signs the token of a key. It is shown once and stored nowhere. */
export async function signToken(
  { kid, key }: SigningKey,
  { keyId, projectId }: Principal,
  issuedAt: Date,
  expiresAt: Date | null,
): Promise<string> {
  const jwt = new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .setIssuer(ISSUER)
    .setSubject(projectId)
    .setJti(keyId)
    .setIssuedAt(issuedAt)
  if (expiresAt !== null) jwt.setExpirationTime(expiresAt)
  return API_KEY_PREFIX + (await jwt.sign(key))
}

/**
 * Verifies a token. Returns undefined when it is not an API key of this service, or has expired.
 *
 * @throws the error of the store when the keys cannot be read
 */
export async function verifyToken(
  token: string,
  keyring: Keyring,
  now: Date,
): Promise<Principal | undefined> {
  const [, jwt] = TOKEN.exec(token) ?? []
  if (jwt === undefined) return undefined
  const kid = readKeyId(jwt)
  const key = kid === undefined ? undefined : await keyring.find(kid)
  if (key === undefined) return undefined
  try {
    const { payload } = await jwtVerify(jwt, key, {
      algorithms: [ALGORITHM],
      typ: TYPE,
      issuer: ISSUER,
      requiredClaims: ['sub', 'jti', 'iat'],
      currentDate: now,
    })
    const { sub: projectId, jti: keyId, iat = Infinity } = payload
    if (iat > now.getTime() / 1000 + MAX_CLOCK_SKEW_S) return undefined
    return isId(projectId) && isId(keyId) ? { keyId, projectId } : undefined
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

/**
 * Reads the `kid` of the header; undefined when it is missing or malformed. Without one, jose would accept a token when
 * only one key fits. Here it is required.
 */
function readKeyId(jwt: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(jwt)
    return typeof kid === 'string' && KID.test(kid) ? kid : undefined
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Checks the type too: a claim may be any JSON value, despite its TypeScript type. */
const isId = (claim: unknown): claim is string => typeof claim === 'string' && ID.test(claim)
