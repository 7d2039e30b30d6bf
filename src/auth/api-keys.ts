/** Stores API keys, without their tokens. A key has one row per version; the row with the highest version counts. */
import type { Connection } from '../clickhouse/connection.js'
import { joinInserts } from '../clickhouse/joined-calls.js'
import {
  optionalTime,
  sql,
  statement,
  string,
  strings,
  time,
  uint64,
  type Sql,
} from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { DEFAULT_SCOPES, isScope, SCOPES, type Scope } from '../contract/scopes.js'
import type { StoredProject } from '../projects/project.js'
import { requireProject } from '../projects/store.js'
import { randomId } from '../lib/random-id.js'
import { ConflictError, MissingError } from '../lib/errors.js'
import { requireExpiry, requireKeyName, requireScopes } from './key-rules.js'
import type { SigningKey } from './signing-key.js'
import { signToken } from './token.js'

export interface StoredKey {
  readonly id: string
  readonly projectId: string
  /** The id of the signing key. */
  readonly kid: string
  /** For people, to distinguish keys; may be empty. */
  readonly name: string
  /** What the key may do, in the order of `SCOPES`. Services know the scopes of a key from here, not from its token. */
  readonly scopes: readonly Scope[]
  readonly createdAt: Date
  /** Null for a key that does not expire. */
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

export interface KeyRequest {
  /** Random if left out. */
  readonly id?: string
  readonly projectId: string
  /** The same project, if the caller has just read it; read if left out. */
  readonly project?: StoredProject
  readonly name: string
  /** What the key may do; `read` if left out. */
  readonly scopes?: readonly Scope[]
  /** Truncated to whole seconds. */
  readonly expiresAt: Date | null
}

interface KeyRow {
  readonly id: string
  readonly project_id: string
  readonly kid: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly created_ms: number
  readonly expires_ms: number | null
  readonly revoked_ms: number | null
  readonly version: number
}

const KEY_COLUMNS = sql`
  id, project_id, kid, name, scopes, toUnixTimestamp64Milli(created_at) AS created_ms,
  toUnixTimestamp64Milli(expires_at) AS expires_ms,
  toUnixTimestamp64Milli(revoked_at) AS revoked_ms, version`

/** A key that was issued just now. */
export interface IssuedKey {
  readonly key: StoredKey
  readonly token: string
  readonly project: StoredProject
}

/**
 * Issues a key for a project. Its token is returned here and stored nowhere.
 *
 * @param now the time of issue
 * @throws UserError for a project that does not exist or is being deleted, an invalid name, no scope, or an expiry that is not in the future
 */
export async function issueKey(
  store: Store,
  signingKey: SigningKey,
  {
    id = randomId('key_', 20),
    projectId,
    project: known,
    name,
    scopes: asked = DEFAULT_SCOPES,
    expiresAt,
  }: KeyRequest,
  now: Date,
): Promise<IssuedKey> {
  requireKeyName(name)
  const scopes = requireScopes(SCOPES, asked)
  const project = known ?? (await requireProject(store.reader, projectId))
  if (project.isDeleting) throw new ConflictError(`the project ${projectId} is being deleted`)
  const expiry = requireExpiry(expiresAt, now)
  const { kid } = signingKey
  const key = {
    id,
    projectId,
    kid,
    name,
    scopes,
    createdAt: now,
    expiresAt: expiry,
    revokedAt: null,
  }
  await insert(store.writer, key, 1)
  const token = await signToken(signingKey, { keyId: id, projectId }, now, expiry)
  return { key, token, project }
}

/** Returns the keys of a project, or of all projects, the oldest first. */
export async function listKeys(
  connection: Connection,
  projectId?: string,
): Promise<readonly StoredKey[]> {
  const where = projectId === undefined ? sql`true` : sql`project_id = ${string(projectId)}`
  const rows = await select(connection, where)
  return rows.map(toStoredKey)
}

/**
 * Revokes a key permanently; services notice within 5 seconds. A key that is revoked already does not change.
 *
 * @param check may reject the revocation of the key
 * @throws MissingError for a key that does not exist
 */
export async function revokeKey(
  store: Store,
  id: string,
  now: Date,
  check?: (key: StoredKey) => void,
): Promise<StoredKey> {
  const [row] = await select(store.reader, sql`id = ${string(id)}`)
  if (row === undefined) throw new MissingError(`there is no key ${id}`)
  const key = toStoredKey(row)
  check?.(key)
  if (key.revokedAt !== null) return key
  const revoked = { ...key, revokedAt: now }
  await insert(store.writer, revoked, row.version + 1)
  return revoked
}

async function select(connection: Connection, where: Sql): Promise<readonly KeyRow[]> {
  const { rows } = await connection.query<KeyRow>(
    statement(sql`
      SELECT ${KEY_COLUMNS} FROM api_keys FINAL WHERE ${where} ORDER BY created_at, id`),
  )
  return rows
}

const insertVersion = joinInserts(
  sql`api_keys (id, project_id, kid, name, scopes, created_at, expires_at, revoked_at, version)`,
)

const insert = (writer: Connection, key: StoredKey, version: number): Promise<void> =>
  insertVersion(
    writer,
    sql`${string(key.id)}, ${string(key.projectId)}, ${string(key.kid)}, ${string(key.name)},
        ${strings(key.scopes)}, ${time(key.createdAt)}, ${optionalTime(key.expiresAt)},
        ${optionalTime(key.revokedAt)}, ${uint64(version)}`,
  )

const toStoredKey = (row: KeyRow): StoredKey => ({
  id: row.id,
  projectId: row.project_id,
  kid: row.kid,
  name: row.name,
  scopes: row.scopes.filter(isScope),
  createdAt: new Date(row.created_ms),
  expiresAt: row.expires_ms === null ? null : new Date(row.expires_ms),
  revokedAt: row.revoked_ms === null ? null : new Date(row.revoked_ms),
})
