/** The tokens of API keys: valid ones are accepted, and every known way to forge one is refused. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import { base64url, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createHmac } from 'node:crypto'
import { signToken, verifyToken } from '../../../src/auth/token.js'
import { createFixedKeys, type FixedKeys } from '../../support/world/keys.js'

const NOW = new Date('2026-01-31T12:00:00Z')
const SECONDS = NOW.getTime() / 1000
const PRINCIPAL = { keyId: 'key_1', projectId: 'shop' }
const TYPE = 'tallyhouse-key+jwt'

let keys: FixedKeys
let token: string
/** The JWT of the token: the tests below change its parts. */
let good: string

beforeAll(async () => {
  keys = await createFixedKeys()
  token = await signToken(keys.signingKey, PRINCIPAL, NOW, null)
  good = token.replace('tallykey_', '')
})

const verify = (token: string, now = NOW) => verifyToken(token, keys.keyring, now)

const CLAIMS = { iss: 'tallyhouse', sub: 'shop', jti: 'key_1', iat: SECONDS }

/** Signs a token with our own key, with any header and claims. */
async function sign(
  { header = {}, claims = {} }: { header?: object; claims?: object },
  key = keys.signingKey.key,
): Promise<string> {
  return new SignJWT({ ...CLAIMS, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: TYPE, kid: keys.signingKey.kid, ...header })
    .sign(key)
}

const encode = (value: unknown): string => base64url.encode(JSON.stringify(value))
const header = (fields: object = {}): string =>
  encode({ alg: 'EdDSA', typ: TYPE, kid: keys.signingKey.kid, ...fields })
const parts = (): [string, string, string] => good.split('.') as [string, string, string]

describe('a valid key', () => {
  test('has a prefix, without which a key of 0.1.0 is as valid', async () => {
    expect(token).toBe(`tallykey_${good}`)
    expect(await verify(token)).toEqual(PRINCIPAL)
    expect(await verify(good)).toEqual(PRINCIPAL)
    expect(await verify(`tallykey_${token}`)).toBeUndefined()
    expect(await verify(`TALLYKEY_${good}`)).toBeUndefined()
  })

  test('gives the id of its key and project', async () => {
    expect(await verify(good)).toEqual(PRINCIPAL)
    expect(await verify(await sign({}))).toEqual(PRINCIPAL)
  })

  test('is valid until it expires', async () => {
    const expiring = await signToken(
      keys.signingKey,
      PRINCIPAL,
      NOW,
      new Date('2026-02-01T00:00:00Z'),
    )
    expect(await verify(expiring, new Date('2026-01-31T23:59:59.999Z'))).toEqual(PRINCIPAL)
    expect(await verify(expiring, new Date('2026-02-01T00:00:00Z'))).toBeUndefined()
  })

  test('is accepted if the clock is 30 seconds behind', async () => {
    expect(await verify(good, new Date(NOW.getTime() - 30_000))).toEqual(PRINCIPAL)
  })
})

describe('another signature is refused', () => {
  test('any other last character', async () => {
    const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const last of characters.replace(good.slice(-1), '')) {
      expect(await verify(good.slice(0, -1) + last)).toBeUndefined()
    }
  })

  test.each<[string, () => string | Promise<string>]>([
    ['cut short', () => good.slice(0, -1)],
    ['longer', () => `${good}A`],
    ['padded', () => `${good}==`],
    ['with a space after it', () => `${good} `],
    ['with a space before it', () => ` ${good}`],
    ['with a line end after it', () => `${good}\n`],
    ['all zeros', () => `${parts()[0]}.${parts()[1]}.${'A'.repeat(86)}`],
    ['none', () => `${parts()[0]}.${parts()[1]}.`],
    ['in plain base64', () => good.replace(/\.[^.](?=[^.]*$)/, '.+')],
    ['of other claims', () => `${parts()[0]}.${encode({ ...CLAIMS, sub: 'other' })}.${parts()[2]}`],
    ['of another header', () => `${header({ x: 1 })}.${parts()[1]}.${parts()[2]}`],
    [
      'of another key of the same id',
      async () => sign({}, (await generateKeyPair('EdDSA')).privateKey),
    ],
  ])('%s', async (_why, token) => {
    expect(await verify(await token())).toBeUndefined()
  })
})

describe('another algorithm is refused', () => {
  const unsigned = (alg: unknown, signature = ''): string =>
    `${header({ alg })}.${encode(CLAIMS)}.${signature}`

  test.each(['none', 'nOnE', 'None', '', null, 0, ['EdDSA'], 'HS256', 'RS256', 'ES256', 'eddsa'])(
    'alg %j',
    async (alg) => {
      expect(await verify(unsigned(alg))).toBeUndefined()
      expect(await verify(unsigned(alg, parts()[2]))).toBeUndefined()
    },
  )

  test('HS256 and HS512 with our public key as the secret', async () => {
    const { x } = keys
    const jwk = JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x, kid: keys.signingKey.kid })
    for (const secret of [x, Buffer.from(x, 'base64url'), jwk]) {
      for (const [alg, hash] of [
        ['HS256', 'sha256'],
        ['HS512', 'sha512'],
      ] as const) {
        const text = `${header({ alg })}.${encode(CLAIMS)}`
        const mac = createHmac(hash, secret).update(text).digest('base64url')
        expect(await verify(`${text}.${mac}`)).toBeUndefined()
      }
    }
  })
})

describe('another header is refused', () => {
  test.each([
    ['without kid', { kid: undefined }],
    ['an unknown kid', { kid: 'A'.repeat(43) }],
    ['a path as kid', { kid: '../../../../dev/null' }],
    ['SQL as kid', { kid: "' OR 1=1 --" }],
    ['a number as kid', { kid: 1 }],
    ['a list as kid', { kid: ['x'] }],
    ['__proto__ as kid', { kid: '__proto__' }],
    ['another typ', { typ: 'JWT' }],
    ['no typ', { typ: undefined }],
    ['typ with parameters', { typ: `${TYPE};x=1` }],
    ['crit of an unknown extension', { crit: ['x'], x: 1 }],
  ])('%s', async (_why, fields) => {
    const text = `${header(fields)}.${encode(CLAIMS)}`
    const signature = await crypto.subtle.sign('Ed25519', keys.signingKey.key, Buffer.from(text))
    expect(await verify(`${text}.${base64url.encode(new Uint8Array(signature))}`)).toBeUndefined()
  })

  test('a header that brings its own key, or the address of one', async () => {
    const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true })
    const jwk = await exportJWK(publicKey)
    for (const fields of [
      { jwk },
      { jku: 'http://127.0.0.1:1/keys' },
      { x5u: 'http://127.0.0.1:1/' },
    ]) {
      expect(await verify(await sign({ header: fields }, privateKey))).toBeUndefined()
    }
  })

  test('an unencoded payload', async () => {
    const text = `${header({ b64: false, crit: ['b64'] })}.${encode(CLAIMS)}`
    const signature = await crypto.subtle.sign('Ed25519', keys.signingKey.key, Buffer.from(text))
    expect(await verify(`${text}.${base64url.encode(new Uint8Array(signature))}`)).toBeUndefined()
  })
})

describe('other claims are refused', () => {
  test.each<[string, object]>([
    ['another issuer', { iss: 'other' }],
    ['no issuer', { iss: undefined }],
    ['a list of issuers', { iss: ['tallyhouse'] }],
    ['no project', { sub: undefined }],
    ['an empty project', { sub: '' }],
    ['a project that is an object', { sub: { $ne: '' } }],
    ['a project that is a list', { sub: ['shop'] }],
    ['a project that is a number', { sub: 1 }],
    ['a project that is SQL', { sub: "x' OR 1" }],
    ['a project that is too long', { sub: 'x'.repeat(65) }],
    ['no key id', { jti: undefined }],
    ['an empty key id', { jti: '' }],
    ['a key id that is null', { jti: null }],
    ['a key id that is an object', { jti: {} }],
    ['no iat', { iat: undefined }],
    ['an iat that is text', { iat: '1' }],
    ['an iat in the future', { iat: SECONDS + 120 }],
    ['an expiry in the past', { exp: SECONDS - 1 }],
    ['an expiry just now', { exp: SECONDS }],
    ['an expiry that is text', { exp: String(SECONDS + 60) }],
    ['an expiry that is null', { exp: null }],
    ['an nbf in the future', { nbf: SECONDS + 60 }],
  ])('%s', async (_why, claims) => {
    expect(await verify(await sign({ claims }))).toBeUndefined()
  })
})

describe('any other text is refused within 100 ms', () => {
  test.each<[string, () => string]>([
    ['nothing', () => ''],
    ['dots', () => '..'],
    ['two parts', () => parts().slice(0, 2).join('.')],
    ['four parts', () => `${good}.${parts()[2]}`],
    ['five parts', () => `${good}.a.b`],
    ['an empty header', () => `.${parts()[1]}.${parts()[2]}`],
    ['an empty payload', () => `${parts()[0]}..${parts()[2]}`],
    ['a header that is not JSON', () => `${base64url.encode('{')}.${parts()[1]}.${parts()[2]}`],
    ['a header that is a list', () => `${encode([])}.${parts()[1]}.${parts()[2]}`],
    ['a header that is null', () => `${encode(null)}.${parts()[1]}.${parts()[2]}`],
    [
      'not UTF-8',
      () => `${base64url.encode(new Uint8Array([255, 254]))}.${parts()[1]}.${parts()[2]}`,
    ],
    ['a text of 200 kB', () => 'a'.repeat(200_000)],
    ['a payload of 200 kB', () => `${parts()[0]}.${'a'.repeat(200_000)}.${parts()[2]}`],
    ['many dots', () => '.'.repeat(200_000)],
    ['the public token of a project', () => 'tallypub_abcdefghijklmnopqrstuvwx'],
  ])('%s', async (_why, token) => {
    expect(await verify(token())).toBeUndefined()
  })
})
