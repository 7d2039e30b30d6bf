/** What is required of a new key, whether it reads a project or manages several. */
import { FieldValueError } from '../lib/errors.js'
import { startOfSecond } from '../lib/time.js'

const NAME = /^\P{C}{0,200}$/u

/** Returns the name of a key, which may be empty. @throws FieldValueError for control characters, and more than 200 characters */
export function requireKeyName(name: string): string {
  if (NAME.test(name)) return name
  throw new FieldValueError('name', 'a name has at most 200 printable characters')
}

/** Returns the scopes that are asked for, in the order of those that are known. @throws FieldValueError for none */
export function requireScopes<Scope extends string>(
  known: readonly Scope[],
  asked: readonly Scope[],
): readonly Scope[] {
  const scopes = known.filter((scope) => asked.includes(scope))
  if (scopes.length === 0) throw new FieldValueError('scopes', 'a key needs a scope')
  return scopes
}

/** Returns when a key expires, in whole seconds; null for never. @throws FieldValueError for a moment that is not in the future */
export function requireExpiry(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt === null) return null
  const expiry = startOfSecond(expiresAt)
  if (expiry > now) return expiry
  throw new FieldValueError('expiresAt', 'the key must expire in the future')
}
