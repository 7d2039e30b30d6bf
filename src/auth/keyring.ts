/** The public keys with which a service verifies API keys. */
import type { CryptoKey } from 'jose'
import { stat } from 'node:fs/promises'
import { isSystemError } from '../lib/errors.js'
import { importKey, parsePublicKeys } from './jwk.js'
import { getPublicKeysFile, readFileIfExists } from './key-files.js'

export interface Keyring {
  /**
   * Finds a key by its id.
   *
   * @throws KeyFileError or a system error when the id is unknown and the file of keys cannot be read
   */
  find(kid: string): Promise<CryptoKey | undefined>
}

interface LoadedKeys {
  readonly version: string
  readonly keys: ReadonlyMap<string, CryptoKey>
}

/**
 * Opens the keyring of a data folder. An unknown `kid` triggers a `stat()`; the file is read again only if it
 * changed, so a forged `kid` costs one `stat()`.
 */
export function openKeyring(dataDir: string): Keyring {
  const file = getPublicKeysFile(dataDir)
  let loaded: LoadedKeys = { version: '', keys: new Map() }
  let refreshing: Promise<void> | undefined

  const refresh = async (): Promise<void> => {
    const version = await readVersion(file)
    if (version !== loaded.version) loaded = { version, keys: await readKeys(file) }
  }

  return {
    async find(kid) {
      const key = loaded.keys.get(kid)
      if (key !== undefined) return key
      refreshing ??= refresh().finally(() => (refreshing = undefined))
      await refreshing
      return loaded.keys.get(kid)
    },
  }
}

/** Returns a text that changes whenever the file is replaced; empty when there is no file. */
async function readVersion(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return undefined
    throw error
  })
  return found === undefined ? '' : [found.ino, found.mtimeNs, found.size].join(' ')
}

async function readKeys(file: string): Promise<ReadonlyMap<string, CryptoKey>> {
  const text = await readFileIfExists(file)
  const jwks = text === undefined ? [] : parsePublicKeys(text, file)
  return new Map(
    await Promise.all(jwks.map(async (jwk) => [jwk.kid, await importKey(jwk)] as const)),
  )
}
