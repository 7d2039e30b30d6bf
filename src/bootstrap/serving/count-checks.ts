/** Counts the outcomes of the checks of keys and tokens. */
import { ApiError } from '../../contract/errors.js'
import type { CredentialKind, StoreInstruments } from '../../telemetry/store-instruments.js'

/** Returns a check of keys or tokens that counts its outcomes. */
export const countChecks =
  <Credential, Result>(
    check: (credential: Credential) => Promise<Result>,
    kind: CredentialKind,
    store: StoreInstruments | undefined,
  ) =>
  async (credential: Credential): Promise<Result> => {
    try {
      const result = await check(credential)
      store?.onCredentialCheck(kind, 'valid')
      return result
    } catch (error) {
      const isInvalid = error instanceof ApiError && error.code === 'UNAUTHORIZED'
      store?.onCredentialCheck(kind, isInvalid ? 'invalid' : 'failed')
      throw error
    }
  }
