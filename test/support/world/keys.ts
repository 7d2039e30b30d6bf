/** Creates signing keys, each in a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { openKeyring, type Keyring } from '../../../src/auth/keyring.js'
import { openSigningKey, type SigningKey } from '../../../src/auth/signing-key.js'

export interface TestKeys {
  readonly dataDir: string
  readonly signingKey: SigningKey
  readonly keyring: Keyring
  /** Removes the folder. */
  remove(): Promise<void>
}

export async function createKeys(): Promise<TestKeys> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-keys-'))
  return {
    dataDir,
    signingKey: await openSigningKey(dataDir),
    keyring: openKeyring(dataDir),
    remove: () => rm(dataDir, { recursive: true }),
  }
}
