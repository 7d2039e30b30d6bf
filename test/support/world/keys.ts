/** Creates signing keys: some without a store, others with one and a data folder. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { issueKey } from '../../../src/auth/api-keys.js'
import { openKeyring, type Keyring } from '../../../src/auth/keyring.js'
import { openSigningKey, type SigningKey } from '../../../src/auth/signing-key.js'
import type { Store } from '../../../src/clickhouse/store.js'
import type { Scope } from '../../../src/contract/scopes.js'

export interface FixedKeys {
  readonly signingKey: SigningKey
  readonly keyring: Keyring
  /** The member x of the public key's JWK. */
  readonly x: string
}

/** Creates a signing key, and a keyring that has its public key only. */
export async function createFixedKeys(): Promise<FixedKeys> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const find = (asked: string) => Promise.resolve(asked === kid ? publicKey : undefined)
  return { signingKey: { kid, key: privateKey }, keyring: { find }, x: jwk.x! }
}

export interface TestKeys {
  readonly dataDir: string
  readonly signingKey: SigningKey
  readonly keyring: Keyring
  /** Issues an API key of a project, which never expires, and returns its token. @param scopes those of a key by default */
  issue(projectId: string, now: Date, scopes?: readonly Scope[]): Promise<string>
  /** Removes the folder. */
  remove(): Promise<void>
}

/** Creates the signing key of a store, in a folder of its own. */
export async function createKeys(store: Store): Promise<TestKeys> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-keys-'))
  const signingKey = await openSigningKey({ store, dataDir }, new Date())
  return {
    dataDir,
    signingKey,
    issue: async (projectId, now, scopes) => {
      const request = { projectId, name: '', expiresAt: null, ...(scopes && { scopes }) }
      return (await issueKey(store, signingKey, request, now)).token
    },
    keyring: openKeyring(store.reader, () => new Date()),
    remove: () => rm(dataDir, { recursive: true }),
  }
}
