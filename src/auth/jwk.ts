/** Reads Ed25519 keys as JWKs (RFC 8037 §2). */
import { importJWK, type CryptoKey } from 'jose'

/** The algorithm of all API keys. */
export const ALGORITHM = 'EdDSA'

/** A key id: the SHA-256 thumbprint of the key (RFC 7638 §3), in base64url. */
export const KID = /^[A-Za-z0-9_-]{43}$/

export interface PublicJwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly kid: string
}

export interface PrivateJwk extends PublicJwk {
  readonly d: string
}

/** The file of the signing key has invalid contents. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
}

/** Returns the public part of a key. */
export const toPublicJwk = ({ kty, crv, x, kid }: PublicJwk): PublicJwk => ({ kty, crv, x, kid })

/**
 * Parses the text of a private JWK (RFC 7517 §4).
 *
 * @throws KeyFileError when it is not a private Ed25519 key
 */
export function parsePrivateKey(text: string, file: string): PrivateJwk {
  const key = parseJson(text, file)
  if (isPublicJwk(key) && 'd' in key && typeof key.d === 'string') return key as PrivateJwk
  throw new KeyFileError(`${file} is not a private Ed25519 key`)
}

/** Converts a JWK into the key that jose signs and verifies with. */
export async function importKey(jwk: PublicJwk): Promise<CryptoKey> {
  const key = await importJWK({ ...jwk }, ALGORITHM)
  if (key instanceof Uint8Array) throw new TypeError('a symmetric key cannot be an API signing key')
  return key
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The message of the parser quotes the text, which may be a secret.
    throw new KeyFileError(`${file} is not JSON`)
  }
}

function isPublicJwk(value: unknown): value is PublicJwk {
  if (typeof value !== 'object' || value === null) return false
  const { kty, crv, x, kid } = value as Readonly<Record<string, unknown>>
  return (
    kty === 'OKP' &&
    crv === 'Ed25519' &&
    typeof x === 'string' &&
    typeof kid === 'string' &&
    KID.test(kid)
  )
}
