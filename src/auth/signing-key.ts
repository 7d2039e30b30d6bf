/** Opens the key that signs API keys. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type CryptoKey } from 'jose'
import type { Store } from '../clickhouse/store.js'
import { UserError } from '../lib/errors.js'
import { ALGORITHM, importKey, parsePrivateKey, toPublicJwk, type PrivateJwk } from './jwk.js'
import { createFile, getPrivateKeyFile, readFileIfExists, replaceFile } from './key-files.js'
import {
  addPublicKey,
  isValidAt,
  listPublicKeys,
  retirePublicKey,
  type StoredPublicKey,
} from './public-keys.js'

export interface SigningKey {
  readonly kid: string
  readonly key: CryptoKey
}

/** Where signing keys are: the private key in the data folder, the public keys in the store. */
interface KeyPlaces {
  readonly store: Pick<Store, 'reader' | 'writer'>
  readonly dataDir: string
}

/**
 * Opens the signing key of a data folder. A store without valid public keys gets its first signing key. When this
 * returns, the store has the public key. Processes that create the key at the same time all get the same one.
 *
 * @throws KeyFileError when the file of the key is invalid; it is left unchanged. UserError when the signing key is retired,
 *   or is in another data folder
 */
export async function openSigningKey(places: KeyPlaces, now: Date): Promise<SigningKey> {
  const { store, dataDir } = places
  const file = getPrivateKeyFile(dataDir)
  if ((await readFileIfExists(file)) === undefined) {
    const isFirst = !(await listPublicKeys(store.reader)).some((key) => isValidAt(key, now))
    // A process that created the key meanwhile wrote the file before it added the public key.
    if (!isFirst && (await readFileIfExists(file)) === undefined) throw createElsewhereError(file)
    if (isFirst) await createFile(file, JSON.stringify(await generateKey()), 0o600)
  }
  const jwk = parsePrivateKey((await readFileIfExists(file)) ?? '', file)
  await addPublicKey(store, toPublicJwk(jwk), now)
  const stored = (await listPublicKeys(store.reader)).find((key) => key.jwk.kid === jwk.kid)
  if (stored !== undefined && !isValidAt(stored, now)) {
    throw new UserError(`the signing key ${jwk.kid} is retired: ${HOW_TO_ROTATE}`)
  }
  return { kid: jwk.kid, key: await importKey(jwk) }
}

/**
 * Replaces the signing key of a data folder by a new one. The public keys of the store stay as they are.
 *
 * @returns the id of the new key, and the other keys that are valid
 */
export async function rotateSigningKey(
  { store, dataDir }: KeyPlaces,
  now: Date,
): Promise<{ readonly kid: string; readonly others: readonly StoredPublicKey[] }> {
  const jwk = await generateKey()
  // If this process is killed after this line, the next command that issues a key adds the public key.
  await replaceFile(getPrivateKeyFile(dataDir), JSON.stringify(jwk), 0o600)
  await addPublicKey(store, toPublicJwk(jwk), now)
  const stored = await listPublicKeys(store.reader)
  const others = stored.filter((key) => key.jwk.kid !== jwk.kid && isValidAt(key, now))
  return { kid: jwk.kid, others }
}

/**
 * Retires a signing key: from `at` on, the API keys that it signed are refused.
 *
 * @throws UserError for a key that does not exist, and for the one that signs the new keys of this data folder
 */
export async function retireSigningKey(
  { store, dataDir }: KeyPlaces,
  kid: string,
  at: Date,
  now: Date,
): Promise<StoredPublicKey> {
  if ((await readSigningKeyId(dataDir)) === kid) {
    throw new UserError(`the key ${kid} signs new API keys: ${HOW_TO_ROTATE} first`)
  }
  return retirePublicKey(store, kid, at, now)
}

/** Returns the id of the signing key of a data folder; undefined when it has none. */
export async function readSigningKeyId(dataDir: string): Promise<string | undefined> {
  const file = getPrivateKeyFile(dataDir)
  const text = await readFileIfExists(file)
  return text === undefined ? undefined : parsePrivateKey(text, file).kid
}

const HOW_TO_ROTATE = 'run "tallyhouse key rotate"'

const createElsewhereError = (file: string): UserError =>
  new UserError(
    `the signing key of this store is on another host, ${file} does not exist: issue keys there, copy that file here, or ${HOW_TO_ROTATE} for a new signing key`,
  )

async function generateKey(): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
  const jwk = await exportJWK(privateKey)
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) } as PrivateJwk
}
