/** The cache of verified tokens: valid ones are remembered until they expire. */
import { beforeAll, expect, test } from '@jest/globals'
import type { Keyring } from '../../../src/auth/keyring.js'
import { signToken } from '../../../src/auth/token.js'
import { createTokenVerifier } from '../../../src/auth/verified-tokens.js'
import { createFixedKeys, type FixedKeys } from '../../support/world/keys.js'

const NOW = new Date('2026-06-15T12:00:00Z')
const PRINCIPAL = { keyId: 'key-1', projectId: 'project-1' }
const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000)

let keys: FixedKeys
beforeAll(async () => {
  keys = await createFixedKeys()
})

/** Creates a keyring that counts its lookups. */
function createCountingKeyring(): { readonly keyring: Keyring; readonly lookups: () => number } {
  let count = 0
  return {
    keyring: {
      find: (kid) => {
        count += 1
        return keys.keyring.find(kid)
      },
    },
    lookups: () => count,
  }
}

test('the signature of a valid token is checked once', async () => {
  const { keyring, lookups } = createCountingKeyring()
  const { verify } = createTokenVerifier(keyring)
  const token = await signToken(keys.signingKey, PRINCIPAL, NOW, null)
  expect([await verify(token, NOW), await verify(token, NOW)]).toEqual([PRINCIPAL, PRINCIPAL])
  expect(lookups()).toBe(1)
})

test('a token expires on time, cached or not', async () => {
  const { verify } = createTokenVerifier(keys.keyring)
  const token = await signToken(keys.signingKey, PRINCIPAL, NOW, after(2))
  expect(await verify(token, after(1.999))).toEqual(PRINCIPAL)
  expect(await verify(token, after(2))).toBeUndefined()
  expect(await createTokenVerifier(keys.keyring).verify(token, after(2))).toBeUndefined()
})

test('a verified token is recalled without waiting, until it expires', async () => {
  const { verify, recall } = createTokenVerifier(keys.keyring)
  const token = await signToken(keys.signingKey, PRINCIPAL, NOW, after(2))
  expect(recall(token, NOW)).toBeUndefined()
  await verify(token, NOW)
  expect([recall(token, after(1.999)), recall(token, after(2))]).toEqual([PRINCIPAL, undefined])
  expect(recall(`${token}x`, NOW)).toBeUndefined()
})

test('an invalid token is never mistaken for a cached one', async () => {
  const { keyring, lookups } = createCountingKeyring()
  const { verify } = createTokenVerifier(keyring)
  const token = await signToken(keys.signingKey, PRINCIPAL, NOW, null)
  await verify(token, NOW)
  const other = `${token.slice(0, -2)}${token.at(-2) === 'A' ? 'B' : 'A'}${token.slice(-1)}`
  expect([await verify(other, NOW), await verify(other, NOW)]).toEqual([undefined, undefined])
  expect(lookups()).toBe(3)
})
