/** Stores the public keys of all signing keys. A key has one row per version; the row with the highest version counts. */
import type { Connection, QueryOptions } from '../clickhouse/connection.js'
import { optionalTime, sql, statement, string, time, uint64 } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { UserError } from '../lib/errors.js'
import { parsePublicKeys, type PublicJwk } from './jwk.js'
import { getPublicKeysFile, readFileIfExists } from './key-files.js'

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

/** Adds the keys that the store does not have; the others stay as they are, retired or not. */
export async function addPublicKeys(
  { reader, writer }: Pick<Store, 'reader' | 'writer'>,
  keys: readonly PublicJwk[],
  now: Date,
): Promise<void> {
  if (keys.length === 0) return
  const known = new Set((await listPublicKeys(reader)).map(({ jwk }) => jwk.kid))
  for (const jwk of keys.filter(({ kid }) => !known.has(kid))) {
    await insert(writer, { jwk, addedAt: now, retiresAt: null }, 1)
  }
}

/**
 * Adds the public keys of the file in which earlier versions kept them. The file is not read otherwise, and not changed.
 *
 * @throws KeyFileError when the file is invalid; a system error when it cannot be read
 */
export async function takeOverPublicKeys(
  store: Pick<Store, 'reader' | 'writer'>,
  dataDir: string,
  now: Date,
): Promise<void> {
  const file = getPublicKeysFile(dataDir)
  const text = await readFileIfExists(file)
  if (text !== undefined) await addPublicKeys(store, parsePublicKeys(text, file), now)
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
