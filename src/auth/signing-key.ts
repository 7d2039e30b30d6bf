/** Opens the key that signs API keys. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type CryptoKey } from 'jose'
import { ALGORITHM, importKey, parsePrivateKey, parsePublicKeys, toPublicJwk } from './jwk.js'
import type { PrivateJwk, PublicJwk } from './jwk.js'
import {
  createFile,
  getPrivateKeyFile,
  getPublicKeysFile,
  readFileIfExists,
  replaceFile,
} from './key-files.js'

export interface SigningKey {
  readonly kid: string
  readonly key: CryptoKey
}

/**
 * Opens the signing key of a data folder, and creates it if there is none. When this returns, the file that services
 * read contains its public part, beside those of former signing keys. Processes that create the key at the same
 * time all get the same one.
 *
 * @throws KeyFileError when a file of keys is invalid; it is left unchanged
 */
export async function openSigningKey(dataDir: string): Promise<SigningKey> {
  const file = getPrivateKeyFile(dataDir)
  if ((await readFileIfExists(file)) === undefined) {
    await createFile(file, JSON.stringify(await generateKey()), 0o600)
  }
  const jwk = parsePrivateKey((await readFileIfExists(file)) ?? '', file)
  await publishKey(dataDir, toPublicJwk(jwk))
  return { kid: jwk.kid, key: await importKey(jwk) }
}

async function generateKey(): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
  const jwk = await exportJWK(privateKey)
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) } as PrivateJwk
}

/** Adds a public key to the file that services read. */
async function publishKey(dataDir: string, key: PublicJwk): Promise<void> {
  const file = getPublicKeysFile(dataDir)
  const text = await readFileIfExists(file)
  const keys = text === undefined ? [] : parsePublicKeys(text, file)
  if (keys.some(({ kid }) => kid === key.kid)) return
  await replaceFile(file, JSON.stringify({ keys: [...keys, key] }, undefined, 2), 0o644)
}
