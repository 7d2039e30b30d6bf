/** Authenticates requests by the API key in their Authorization header. */
import type { Store } from '../clickhouse/store.js'
import { parseBearerToken, recognizeCredential } from '../contract/bearer.js'
import { ApiError } from '../contract/errors.js'
import type { Scope } from '../contract/scopes.js'
import type { StoredProject } from '../projects/project.js'
import type { Keyring } from './keyring.js'
import { createKeyLookup, createKeysUnavailableError } from './key-lookup.js'
import type { Principal } from './token.js'
import { createTokenVerifier } from './verified-tokens.js'

export interface Authenticated {
  readonly principal: Principal
  /** The project of the key, at most 4 seconds old. */
  readonly project: StoredProject
  /** What the key may do, at most 4 seconds old. */
  readonly scopes: readonly Scope[]
}

interface AuthenticatorDependencies {
  readonly store: Pick<Store, 'reader'>
  readonly keyring: Keyring
  readonly now: () => Date
  /** Returns milliseconds; by default of `performance.now`. */
  readonly clock?: () => number
}

export interface Authenticator {
  /**
   * Verifies the key in an Authorization header and finds its project.
   *
   * @throws ApiError UNAUTHORIZED, the same for every kind of invalid key; another message for a text that has the form of a
   *   public token, valid or not; SERVICE_UNAVAILABLE when the key cannot be checked
   */
  readonly authenticate: (header: string | undefined) => Promise<Authenticated>
  /**
   * Returns what `authenticate` last found out about a header; undefined if it knows nothing. The key may have been
   * revoked since: this is good enough to refuse a request, not to serve it.
   */
  readonly recall: (header: string | undefined) => Authenticated | undefined
}

/** Creates the authenticator of a service. It caches keys for up to 4 seconds. */
export function createAuthenticator(dependencies: AuthenticatorDependencies): Authenticator {
  const { store, keyring, now, clock } = dependencies
  const keys = createKeyLookup(store.reader, clock)
  const tokens = createTokenVerifier(keyring, clock)
  return {
    async authenticate(header) {
      const token = parseBearerToken(header)
      if (token === undefined) throw createUnauthorizedError()
      if (recognizeCredential(token) === 'public token') throw createPublicTokenError()
      const principal = await tokens.verify(token, now()).catch((cause: unknown) => {
        throw createKeysUnavailableError(cause)
      })
      const key = principal === undefined ? undefined : await keys.find(principal)
      if (principal === undefined || key === undefined) throw createUnauthorizedError()
      return { principal, ...key }
    },
    recall(header) {
      const token = parseBearerToken(header)
      const principal = token === undefined ? undefined : tokens.recall(token, now())
      const key = principal === undefined ? undefined : keys.recall(principal)
      return principal === undefined || key === undefined ? undefined : { principal, ...key }
    },
  }
}

const createUnauthorizedError = (): ApiError =>
  new ApiError('UNAUTHORIZED', 'The API key is missing or not valid.')

const createPublicTokenError = (): ApiError =>
  new ApiError(
    'UNAUTHORIZED',
    'This is a public token, which only sends events. Use an API key, as `tallyhouse key issue` prints it.',
  )
