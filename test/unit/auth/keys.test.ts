/** The files of the signing keys: created once, never overwritten, read again when they change. */
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { getPrivateKeyFile, getPublicKeysFile } from '../../../src/auth/key-files.js'
import { KeyFileError } from '../../../src/auth/jwk.js'
import { openKeyring } from '../../../src/auth/keyring.js'
import { openSigningKey } from '../../../src/auth/signing-key.js'

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-keys-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777
const publicKids = async (): Promise<readonly string[]> => {
  const text = await readFile(getPublicKeysFile(dataDir), 'utf8')
  return (JSON.parse(text) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid)
}

test('only the owner can read the private key, and the public file has no secret', async () => {
  await openSigningKey(dataDir)
  expect(await modeOf(getPrivateKeyFile(dataDir))).toBe(0o600)
  const jwks = JSON.parse(await readFile(getPublicKeysFile(dataDir), 'utf8')) as { keys: object[] }
  expect(Object.keys(jwks.keys[0]!)).toEqual(['kty', 'crv', 'x', 'kid'])
})

test('concurrent calls create one key, and leave no temporary files', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, () => openSigningKey(dataDir)))
  const again = await openSigningKey(dataDir)
  expect(new Set(made.map(({ kid }) => kid))).toEqual(new Set([again.kid]))
  expect(await publicKids()).toEqual([again.kid])
  expect(await readdir(path.join(dataDir, 'keys'))).toEqual([
    'public-keys.json',
    'signing-key.json',
  ])
})

test('a new signing key is added to the public keys of earlier ones', async () => {
  const former = await openSigningKey(dataDir)
  await rm(getPrivateKeyFile(dataDir))
  const current = await openSigningKey(dataDir)
  expect(await publicKids()).toEqual([former.kid, current.kid])
})

test('a missing public key is written again', async () => {
  const { kid } = await openSigningKey(dataDir)
  await rm(getPublicKeysFile(dataDir))
  await openSigningKey(dataDir)
  expect(await publicKids()).toEqual([kid])
})

test.each(['', '{', '[]', '{"keys":{}}', '{"keys":[{"kty":"oct","k":"eA","kid":"x"}]}'])(
  'a public file with the content %j is an error, and is left as it is',
  async (text) => {
    await openSigningKey(dataDir)
    await writeFile(getPublicKeysFile(dataDir), text)
    await expect(openSigningKey(dataDir)).rejects.toThrow(KeyFileError)
    await expect(openKeyring(dataDir).find('A'.repeat(43))).rejects.toThrow(KeyFileError)
    expect(await readFile(getPublicKeysFile(dataDir), 'utf8')).toBe(text)
  },
)

test('the error of an invalid private file does not quote its content', async () => {
  await openSigningKey(dataDir)
  await writeFile(getPrivateKeyFile(dataDir), '{"d":"secret"')
  const failure = openSigningKey(dataDir)
  await expect(failure).rejects.toThrow(KeyFileError)
  await expect(failure).rejects.not.toThrow(/secret/)
})

test('a keyring has no keys until the first is created, and finds new ones', async () => {
  const keyring = openKeyring(dataDir)
  expect(await keyring.find('A'.repeat(43))).toBeUndefined()
  const first = await openSigningKey(dataDir)
  expect(await keyring.find(first.kid)).toBeDefined()
  await rm(getPrivateKeyFile(dataDir))
  const second = await openSigningKey(dataDir)
  expect(await keyring.find(second.kid)).toBeDefined()
  expect(await keyring.find(first.kid)).toBeDefined()
})

test('a keyring keeps its keys while the file is invalid', async () => {
  const { kid } = await openSigningKey(dataDir)
  const keyring = openKeyring(dataDir)
  await keyring.find(kid)
  await writeFile(getPublicKeysFile(dataDir), 'broken')
  await expect(keyring.find('A'.repeat(43))).rejects.toThrow(KeyFileError)
  expect(await keyring.find(kid)).toBeDefined()
})
