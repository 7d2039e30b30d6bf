/** The public keys by which a service checks API keys. */
import type { CryptoKey } from 'jose'
import { stat } from 'node:fs/promises'
import { isSystemError } from '../lib/errors.js'
import { importKey, parsePublicKeys } from './jwk.js'
import { publicKeysFile, readIfThere } from './key-files.js'

export interface Keyring {
  /**
   * The key of that id; undefined when there is none.
   *
   * @throws when the id is not known yet, and the file of keys cannot be read or understood.
   */
  find(kid: string): Promise<CryptoKey | undefined>
}

interface Known {
  readonly version: string
  readonly keys: ReadonlyMap<string, CryptoKey>
}

/**
 * The keyring of a data folder. An unknown id makes it look whether the file is another one by now,
 * and only then read it again: ids made up by a caller cost a look at the file's date each.
 */
export function openKeyring(dataDir: string): Keyring {
  const file = publicKeysFile(dataDir)
  let known: Known = { version: '', keys: new Map() }
  let refreshing: Promise<void> | undefined

  const refresh = async (): Promise<void> => {
    const version = await versionOf(file)
    if (version !== known.version) known = { version, keys: await readKeys(file) }
  }

  return {
    async find(kid) {
      const key = known.keys.get(kid)
      if (key !== undefined) return key
      refreshing ??= refresh().finally(() => (refreshing = undefined))
      await refreshing
      return known.keys.get(kid)
    },
  }
}

/** Another one for each file that was put in its place; empty when there is none. */
async function versionOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return undefined
    throw error
  })
  return found === undefined ? '' : [found.ino, found.mtimeNs, found.size].join(' ')
}

async function readKeys(file: string): Promise<ReadonlyMap<string, CryptoKey>> {
  const text = await readIfThere(file)
  const jwks = text === undefined ? [] : parsePublicKeys(text, file)
  return new Map(
    await Promise.all(jwks.map(async (jwk) => [jwk.kid, await importKey(jwk)] as const)),
  )
}
