/** Tells from the Authorization header of a request whom it speaks for. */
import type { Store } from '../clickhouse/store.js'
import { parseBearerToken } from '../contract/bearer.js'
import { ApiError } from '../contract/errors.js'
import type { StoredProject } from '../projects/project.js'
import type { Keyring } from './keyring.js'
import { createLookUp, keysUnavailable } from './key-lookup.js'
import type { Principal } from './token.js'
import { createVerifier } from './verified-tokens.js'

export type { Principal } from './token.js'

export interface Authenticated {
  readonly principal: Principal
  /** The project of the key, as it was at most 4 seconds ago. */
  readonly project: StoredProject
}

export interface AuthenticatorDependencies {
  readonly store: Pick<Store, 'reader'>
  readonly keyring: Keyring
  readonly now: () => Date
}

export interface Authenticator {
  /**
   * @throws ApiError UNAUTHORIZED, the same for whatever is wrong with the key; SERVICE_UNAVAILABLE
   *   when that cannot be told.
   */
  readonly authenticate: (header: string | undefined) => Promise<Authenticated>
}

/** An authenticator for all requests of a service: it remembers keys for up to 4 seconds. */
export function createAuthenticator(dependencies: AuthenticatorDependencies): Authenticator {
  const { store, keyring, now } = dependencies
  const lookUp = createLookUp(store.reader)
  const verify = createVerifier(keyring)
  return {
    async authenticate(header) {
      const token = parseBearerToken(header)
      if (token === undefined) throw unauthorized()
      const principal = await verify(token, now()).catch((cause: unknown) => {
        throw keysUnavailable(cause)
      })
      const project = principal === undefined ? null : await lookUp(principal)
      if (principal === undefined || project === null) throw unauthorized()
      return { principal, project }
    },
  }
}

const unauthorized = (): ApiError =>
  new ApiError('UNAUTHORIZED', 'The API key is missing or not valid.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
