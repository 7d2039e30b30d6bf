/** Formats API keys and signing keys as tables. */
import type { ListedAdminKey } from '../auth/admin-keys.js'
import type { StoredKey } from '../auth/api-keys.js'
import { isValidAt, type StoredPublicKey } from '../auth/public-keys.js'
import { formatNumber } from '../lib/counts.js'
import { formatTable, formatTime } from './shared/output.js'

/** A signing key as `key list --signing --json` prints it. */
interface SigningKeyRow {
  readonly kid: string
  /** Whether the data folder of this process has the private key. */
  readonly signsHere: boolean
  readonly addedAt: Date
  readonly retiresAt: Date | null
  /** The number of API keys that it signed, of those whose signing key is known. */
  readonly apiKeys: number
}

/** @param current the id of the signing key of this data folder */
export const toSigningKeyRows = (
  publicKeys: readonly StoredPublicKey[],
  apiKeys: readonly StoredKey[],
  current: string | undefined,
): readonly SigningKeyRow[] =>
  publicKeys.map(({ jwk: { kid }, addedAt, retiresAt }) => ({
    kid,
    signsHere: kid === current,
    addedAt,
    retiresAt,
    apiKeys: apiKeys.filter((key) => key.kid === kid).length,
  }))

/** Formats signing keys, one per line. */
export function formatSigningKeys(keys: readonly SigningKeyRow[], now: Date): string {
  const rows = keys.map(({ kid, signsHere, addedAt, retiresAt, apiKeys }) => [
    kid,
    retiresAt !== null && retiresAt <= now ? 'retired' : 'valid',
    signsHere ? 'yes' : 'no',
    formatTime(addedAt),
    formatTime(retiresAt),
    formatNumber(apiKeys),
  ])
  return formatTable([['KID', 'STATE', 'SIGNS HERE', 'ADDED', 'RETIRES', 'API KEYS'], ...rows])
}

/** Formats API keys, one per line. */
export function formatKeys(
  keys: readonly StoredKey[],
  publicKeys: readonly StoredPublicKey[],
  now: Date,
): string {
  const retired = publicKeys.filter((key) => !isValidAt(key, now)).map(({ jwk }) => jwk.kid)
  const rows = keys.map((key) => [
    key.id,
    key.projectId,
    key.scopes.join(','),
    describeState(key, new Set(retired), now),
    formatTime(key.createdAt),
    formatTime(key.expiresAt),
    key.kid,
    key.name,
  ])
  return formatTable([
    ['ID', 'PROJECT', 'SCOPES', 'STATE', 'CREATED', 'EXPIRES', 'KID', 'NAME'],
    ...rows,
  ])
}

/** A key whose signing key is retired is refused like a revoked one. */
function describeState(
  { revokedAt, expiresAt, kid }: Pick<StoredKey, 'revokedAt' | 'expiresAt' | 'kid'>,
  retired: ReadonlySet<string>,
  now: Date,
): string {
  if (revokedAt !== null) return 'revoked'
  if (retired.has(kid)) return 'retired'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid'
}

/** Formats admin keys, one per line. */
export function formatAdminKeys(keys: readonly ListedAdminKey[], now: Date): string {
  const rows = keys.map((key) => [
    key.id,
    key.org ?? 'all',
    key.scopes.join(','),
    describeState({ ...key, kid: '' }, new Set(), now),
    formatTime(key.createdAt),
    formatTime(key.expiresAt),
    formatTime(key.lastUsedAt),
    key.name,
  ])
  const head = ['ID', 'ORGANIZATION', 'SCOPES', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'NAME']
  return formatTable([head, ...rows])
}
