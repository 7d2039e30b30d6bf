/** The credentials of the Bearer scheme: how they are sent, and how their kinds are told apart by their form. */

/** What a public token begins with. */
export const PUBLIC_TOKEN_PREFIX = 'tallypub_'

/** What an API key begins with, so that scanners find one that was published. Keys of 0.1.0 lack it and stay valid. */
export const API_KEY_PREFIX = 'tallykey_'

/** What an admin key begins with. */
export const ADMIN_KEY_PREFIX = 'tallyadmin_'

/** An API key is a JWT, whose first part is a JSON object in base64url, after its prefix. */
const API_KEY = new RegExp(`^(?:${API_KEY_PREFIX}|eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]+$)`)

export type CredentialKind = 'API key' | 'admin key' | 'public token'

/** Returns the kind of credential that a text has the form of, whether it is valid or not; undefined for any other text. */
export function recognizeCredential(text: string): CredentialKind | undefined {
  if (text.startsWith(ADMIN_KEY_PREFIX)) return 'admin key'
  if (text.startsWith(PUBLIC_TOKEN_PREFIX)) return 'public token'
  return API_KEY.test(text) ? 'API key' : undefined
}

/** The credentials of RFC 6750 §2.1. The name of a scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer (?<token>\S+)$/i

/** Returns the token of an `Authorization: Bearer <token>` header; undefined for any other header or none. */
export const parseBearerToken = (header: string | undefined): string | undefined =>
  BEARER.exec(header ?? '')?.groups?.['token']
