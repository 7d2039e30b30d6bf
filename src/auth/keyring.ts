/** The public keys with which a service verifies API keys: those of the store that are not retired. */
import type { CryptoKey } from 'jose'
import { createBriefOptions } from '../clickhouse/brief-read.js'
import type { Connection } from '../clickhouse/connection.js'
import { createKnownValues, type KnownValues } from '../lib/known-values.js'
import { importKey } from './jwk.js'
import { isValidAt, listPublicKeys } from './public-keys.js'

export type Keyring = Pick<KnownValues<CryptoKey>, 'find'>

/** Opens the keyring of a store, by the rules of `KnownValues`. @param clock returns milliseconds */
export const openKeyring = (reader: Connection, now: () => Date, clock?: () => number): Keyring =>
  createKnownValues(() => readValidKeys(reader, now()), clock)

async function readValidKeys(
  reader: Connection,
  now: Date,
): Promise<ReadonlyMap<string, CryptoKey>> {
  const stored = await listPublicKeys(reader, createBriefOptions())
  const valid = stored.filter((key) => isValidAt(key, now))
  return new Map(
    await Promise.all(valid.map(async ({ jwk }) => [jwk.kid, await importKey(jwk)] as const)),
  )
}
