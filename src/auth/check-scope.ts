/** Checks the scopes of API keys and admin keys. */
import { ApiError } from '../contract/errors.js'

/** @throws ApiError INSUFFICIENT_SCOPE if a key does not have a scope */
export function checkScope<AnyScope extends string>(
  kind: 'API key' | 'admin key',
  scope: AnyScope,
  scopes: readonly AnyScope[],
): void {
  if (scopes.includes(scope)) return
  throw new ApiError(
    'INSUFFICIENT_SCOPE',
    `This operation needs an ${kind} with the scope ${scope}. This key has: ${scopes.join(', ')}.`,
  )
}
