/** Stores the public keys of all signing keys. A key has one row per version; the row with the highest version counts. */
import type { Connection, QueryOptions } from '../clickhouse/connection.js'
import { optionalTime, sql, statement, string, time, uint64 } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { UserError } from '../lib/errors.js'
import type { PublicJwk } from './jwk.js'

export interface StoredPublicKey {
  readonly jwk: PublicJwk
  readonly addedAt: Date
  /** From then on the API keys that it signed are refused; null for a key that is not retired. */
  readonly retiresAt: Date | null
}

interface PublicKeyRow {
  readonly kid: string
  readonly x: string
  readonly added_ms: number
  readonly retires_ms: number | null
  readonly version: number
}

/** Returns whether the API keys that a key signed are accepted. */
export const isValidAt = ({ retiresAt }: StoredPublicKey, now: Date): boolean =>
  retiresAt === null || retiresAt > now

/** Returns all public keys, also retired ones, the oldest first. */
export async function listPublicKeys(
  connection: Connection,
  options: QueryOptions = {},
): Promise<readonly StoredPublicKey[]> {
  return (await selectRows(connection, options)).map(toStoredKey)
}

/** Adds a key. One that the store has stays as it is, retired or not. */
export async function addPublicKey(
  { reader, writer }: Pick<Store, 'reader' | 'writer'>,
  jwk: PublicJwk,
  now: Date,
): Promise<void> {
  const known = await listPublicKeys(reader)
  if (known.some((one) => one.jwk.kid === jwk.kid)) return
  await insert(writer, { jwk, addedAt: now, retiresAt: null }, 1)
}

/**
 * Retires a key: from `at` on, services refuse the API keys that it signed, within 10 seconds. A key that is
 * retired already does not change.
 *
 * @throws UserError for a key that does not exist
 */
export async function retirePublicKey(
  { reader, writer }: Pick<Store, 'reader' | 'writer'>,
  kid: string,
  at: Date,
  now: Date,
): Promise<StoredPublicKey> {
  const row = (await selectRows(reader)).find((one) => one.kid === kid)
  if (row === undefined) throw new UserError(`there is no public key ${kid}`)
  const key = toStoredKey(row)
  if (!isValidAt(key, now)) return key
  const retired = { ...key, retiresAt: at }
  await insert(writer, retired, row.version + 1)
  return retired
}

async function selectRows(
  connection: Connection,
  options: QueryOptions = {},
): Promise<readonly PublicKeyRow[]> {
  const { rows } = await connection.query<PublicKeyRow>(
    statement(sql`
      SELECT kid, x, toUnixTimestamp64Milli(added_at) AS added_ms,
        toUnixTimestamp64Milli(retires_at) AS retires_ms, version
      FROM public_keys FINAL ORDER BY added_at, kid`),
    options,
  )
  return rows
}

async function insert(
  writer: Connection,
  { jwk, addedAt, retiresAt }: StoredPublicKey,
  version: number,
): Promise<void> {
  await writer.execute(
    statement(sql`
      INSERT INTO public_keys (kid, x, added_at, retires_at, version)
      SELECT ${string(jwk.kid)}, ${string(jwk.x)}, ${time(addedAt)}, ${optionalTime(retiresAt)}, ${uint64(version)}`),
  )
}

const toStoredKey = ({ kid, x, added_ms, retires_ms }: PublicKeyRow): StoredPublicKey => ({
  jwk: { kty: 'OKP', crv: 'Ed25519', x, kid },
  addedAt: new Date(added_ms),
  retiresAt: retires_ms === null ? null : new Date(retires_ms),
})
