/** Gives those who issue API keys the key to sign them with. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type CryptoKey } from 'jose'
import { ALGORITHM, importKey, parsePrivateKey, parsePublicKeys, publicHalf } from './jwk.js'
import type { PrivateJwk, PublicJwk } from './jwk.js'
import {
  createFile,
  privateKeyFile,
  publicKeysFile,
  readIfThere,
  replaceFile,
} from './key-files.js'

export interface SigningKey {
  readonly kid: string
  readonly key: CryptoKey
}

/**
 * The signing key of a data folder, made where there is none. When this returns, its public half is
 * in the file that services read, beside those of former signing keys. Of several that make the key
 * at once, all get the same one.
 *
 * @throws KeyFileError when a file of keys cannot be understood: it is left as it is.
 */
export async function openSigningKey(dataDir: string): Promise<SigningKey> {
  const file = privateKeyFile(dataDir)
  if ((await readIfThere(file)) === undefined) {
    await createFile(file, JSON.stringify(await newKey()), 0o600)
  }
  const jwk = parsePrivateKey((await readIfThere(file)) ?? '', file)
  await publish(dataDir, publicHalf(jwk))
  return { kid: jwk.kid, key: await importKey(jwk) }
}

async function newKey(): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
  const jwk = await exportJWK(privateKey)
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) } as PrivateJwk
}

async function publish(dataDir: string, key: PublicJwk): Promise<void> {
  const file = publicKeysFile(dataDir)
  const text = await readIfThere(file)
  const keys = text === undefined ? [] : parsePublicKeys(text, file)
  if (keys.some(({ kid }) => kid === key.kid)) return
  await replaceFile(file, JSON.stringify({ keys: [...keys, key] }, undefined, 2), 0o644)
}
