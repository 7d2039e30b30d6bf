/** Stores admin keys, without their secrets. A key has one row per version; the row with the highest version counts. */
import { createHash } from 'node:crypto'
import type { Connection, QueryOptions } from '../clickhouse/connection.js'
import { optionalTime, sql, statement, string, strings, time, uint64 } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { ADMIN_SCOPES, isAdminScope, type AdminScope } from '../contract/admin-scopes.js'
import { ADMIN_KEY_PREFIX } from '../contract/bearer.js'
import { MissingError } from '../lib/errors.js'
import { randomId } from '../lib/random-id.js'
import { requireOrg } from '../projects/rules.js'
import { requireExpiry, requireKeyName, requireScopes } from './key-rules.js'

export interface AdminKey {
  readonly id: string
  /** For people, to distinguish keys; may be empty. */
  readonly name: string
  /** What the key may do, in the order of `ADMIN_SCOPES`. */
  readonly scopes: readonly AdminScope[]
  /** The organization whose projects the key sees; null for all projects. */
  readonly org: string | null
  readonly createdAt: Date
  /** Null for a key that does not expire. */
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** A key with the hash of its secret. */
export interface StoredAdminKey extends AdminKey {
  /** SHA-256, in hex. */
  readonly hash: string
  readonly version: number
}

/** A key as `key list --admin` shows it. */
export interface ListedAdminKey extends AdminKey {
  /** To the minute; null for a key that was never used. */
  readonly lastUsedAt: Date | null
}

interface AdminKeyRequest {
  readonly name: string
  /** All scopes if left out. */
  readonly scopes?: readonly AdminScope[]
  readonly org: string | null
  /** Truncated to whole seconds. */
  readonly expiresAt: Date | null
}

interface AdminKeyRow {
  readonly id: string
  readonly name: string
  readonly hash: string
  readonly scopes: readonly string[]
  readonly org: string
  readonly created_ms: number
  readonly expires_ms: number | null
  readonly revoked_ms: number | null
  readonly version: number
}

const ID_PREFIX = 'adm_'
const ID_LENGTH = 16
const SECRET_LENGTH = 40
const KEY = new RegExp(`^${ADMIN_KEY_PREFIX}([a-z0-9]{${ID_LENGTH}})_[a-z0-9]{${SECRET_LENGTH}}$`)

/** Returns whether a text is the id of an admin key, and not that of an API key. */
export const isAdminKeyId = (id: string): boolean => id.startsWith(ID_PREFIX)

/** Returns the id of the key that a secret belongs to; undefined for a text that is no admin key. */
export function parseAdminKey(secret: string): string | undefined {
  const [, id] = KEY.exec(secret) ?? []
  return id === undefined ? undefined : ID_PREFIX + id
}

/** Returns the SHA-256 of a secret in hex. A secret has 200 bits of entropy, so it needs no slower hash. */
export const hashAdminKey = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex')

/**
 * Issues an admin key. Its secret is returned here and stored nowhere.
 *
 * @param now the time of issue
 * @throws FieldValueError for an invalid name or organization, no scope, or an expiry that is not in the future
 */
export async function issueAdminKey(
  store: Store,
  { name, scopes: asked = ADMIN_SCOPES, org, expiresAt }: AdminKeyRequest,
  now: Date,
): Promise<{ readonly key: AdminKey; readonly secret: string }> {
  const id = randomId(ID_PREFIX, ID_LENGTH)
  const secret = randomId(`${ADMIN_KEY_PREFIX}${id.slice(ID_PREFIX.length)}_`, SECRET_LENGTH)
  const key = {
    id,
    name: requireKeyName(name),
    scopes: requireScopes(ADMIN_SCOPES, asked),
    org: org === null ? null : requireOrg(org),
    createdAt: now,
    expiresAt: requireExpiry(expiresAt, now),
    revokedAt: null,
  }
  await insert(store.writer, { ...key, hash: hashAdminKey(secret), version: 1 })
  return { key, secret }
}

/** Returns all admin keys with their last use, the oldest first. */
export async function listAdminKeys(connection: Connection): Promise<readonly ListedAdminKey[]> {
  const keys = await readAdminKeys(connection)
  const { rows } = await connection.query<{ id: string; used: number }>(
    statement(sql`
      SELECT id, max(toUnixTimestamp64Milli(used_at)) AS used FROM admin_key_uses GROUP BY id`),
  )
  const uses = new Map(rows.map(({ id, used }) => [id, new Date(used)]))
  return keys.map(({ hash: _, version: __, ...key }) => ({
    ...key,
    lastUsedAt: uses.get(key.id) ?? null,
  }))
}

/** Reads all admin keys, the oldest first. */
export async function readAdminKeys(
  connection: Connection,
  options: QueryOptions = {},
): Promise<readonly StoredAdminKey[]> {
  const { rows } = await connection.query<AdminKeyRow>(
    statement(sql`
      SELECT id, name, hash, scopes, org, toUnixTimestamp64Milli(created_at) AS created_ms,
        toUnixTimestamp64Milli(expires_at) AS expires_ms,
        toUnixTimestamp64Milli(revoked_at) AS revoked_ms, version
      FROM admin_keys FINAL ORDER BY created_at, id`),
    options,
  )
  return rows.map(toAdminKey)
}

/**
 * Revokes a key for good; services notice within 5 seconds. A key that is revoked already does not change.
 *
 * @throws MissingError for a key that does not exist
 */
export async function revokeAdminKey(store: Store, id: string, now: Date): Promise<void> {
  const key = (await readAdminKeys(store.writer)).find((one) => one.id === id)
  if (key === undefined) throw new MissingError(`there is no key ${id}`)
  if (key.revokedAt !== null) return
  await insert(store.writer, { ...key, revokedAt: now, version: key.version + 1 })
}

/** Records that a key was used. */
export const recordUse = (writer: Connection, id: string, now: Date): Promise<void> =>
  writer.execute(
    statement(sql`INSERT INTO admin_key_uses (id, used_at) SELECT ${string(id)}, ${time(now)}`),
  )

const insert = (writer: Connection, key: StoredAdminKey): Promise<void> =>
  writer.execute(
    statement(sql`
      INSERT INTO admin_keys (id, name, hash, scopes, org, created_at, expires_at, revoked_at, version)
      SELECT ${string(key.id)}, ${string(key.name)}, ${string(key.hash)}, ${strings(key.scopes)},
        ${string(key.org ?? '')}, ${time(key.createdAt)}, ${optionalTime(key.expiresAt)},
        ${optionalTime(key.revokedAt)}, ${uint64(key.version)}`),
  )

const toAdminKey = (row: AdminKeyRow): StoredAdminKey => ({
  id: row.id,
  name: row.name,
  hash: row.hash,
  scopes: row.scopes.filter(isAdminScope),
  org: row.org === '' ? null : row.org,
  createdAt: new Date(row.created_ms),
  expiresAt: row.expires_ms === null ? null : new Date(row.expires_ms),
  revokedAt: row.revoked_ms === null ? null : new Date(row.revoked_ms),
  version: row.version,
})
