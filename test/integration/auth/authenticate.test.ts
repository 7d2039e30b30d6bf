/** Authentication on a real engine: accepted and refused keys, the cache, and store outages. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { issueKey, listKeys, revokeKey, type KeyRequest } from '../../../src/auth/api-keys.js'
import { createAuthenticator, type Authenticator } from '../../../src/auth/authenticate.js'
import { signToken } from '../../../src/auth/token.js'
import { connect, type Connection } from '../../../src/clickhouse/connection.js'
import { ApiError } from '../../../src/contract/errors.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { createProject, updateProject } from '../../../src/projects/store.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'

const NOW = new Date('2026-01-31T12:00:00Z')
const REFUSAL = {
  code: 'UNAUTHORIZED',
  message: 'The API key is missing or not valid.',
  headers: { 'WWW-Authenticate': 'Bearer' },
}
const OUTAGE = { code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' } }

let database: TestDatabase
let keys: TestKeys
let shop: StoredProject
let authenticator: Authenticator

beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  shop = await createProject(database.store, { id: 'shop', name: 'S', domain: 's.example' }, NOW)
})
afterAll(async () => {
  await database.drop()
  await keys.remove()
})
beforeEach(() => {
  authenticator = createTestAuthenticator(database.store.reader)
})

/** Milliseconds, which pass only as a test says. */
let time = 1_000

const createTestAuthenticator = (reader: Connection): Authenticator =>
  createAuthenticator({
    store: { reader },
    keyring: keys.keyring,
    now: () => NOW,
    clock: () => time,
  })

const issue = (request: Partial<KeyRequest> = {}, now = NOW) =>
  issueKey(
    database.store,
    keys.signingKey,
    { projectId: 'shop', name: '', expiresAt: null, ...request },
    now,
  )

/** Returns the error that the client gets. */
async function getRefusal(
  header: string | undefined,
  by: Pick<Authenticator, 'authenticate'> = authenticator,
): Promise<unknown> {
  const outcome = await by.authenticate(header).catch((error: unknown) => error)
  expect(outcome).toBeInstanceOf(ApiError)
  const { code, message, headers } = outcome as ApiError
  return { code, message, headers }
}

test('a key gives access to its project', async () => {
  const { token, key } = await issue()
  const want = { principal: { keyId: key.id, projectId: 'shop' }, project: shop, scopes: ['read'] }
  expect(await authenticator.authenticate(`Bearer ${token}`)).toEqual(want)
  expect(await authenticator.authenticate(`bEARER ${token}`)).toEqual(want)
})

test.each([
  ['of the project', () => shop.token],
  ['made up', () => 'tallypub_x'],
])('a public token %s is named as what it is', async (_which, getToken) => {
  const message =
    'This is a public token, which only sends events. Use an API key, as `tallyhouse key issue` prints it.'
  expect(await getRefusal(`Bearer ${getToken()}`)).toEqual({ ...REFUSAL, message })
})

describe('every invalid key gets the same response', () => {
  test.each<[string, (token: string) => string | undefined]>([
    ['no header', () => undefined],
    ['an empty header', () => ''],
    ['no key', () => 'Bearer '],
    ['the key alone', (token) => token],
    ['another scheme', (token) => `Basic ${token}`],
    ['no space', (token) => `Bearer${token}`],
    ['two spaces', (token) => `Bearer  ${token}`],
    ['a tab', (token) => `Bearer\t${token}`],
    ['a space after it', (token) => `Bearer ${token} `],
    ['two keys', (token) => `Bearer ${token}, Bearer ${token}`],
    ['parameters', (token) => `Bearer ${token},realm="x"`],
    ['quotes', (token) => `Bearer "${token}"`],
    ['letters beyond ASCII', () => 'Bearer é'],
    ['a long text', () => `Bearer ${'x'.repeat(100_000)}`],
  ])('%s', async (_why, header) => {
    const { token } = await issue()
    expect(await getRefusal(header(token))).toEqual(REFUSAL)
  })

  test('an expired key', async () => {
    const { token } = await issue({ expiresAt: NOW }, new Date(NOW.getTime() - 60_000))
    expect(await getRefusal(`Bearer ${token}`)).toEqual(REFUSAL)
  })

  test('a key with a valid signature that was never issued', async () => {
    const token = await signToken(keys.signingKey, { keyId: 'key_x', projectId: 'shop' }, NOW, null)
    expect(await getRefusal(`Bearer ${token}`)).toEqual(REFUSAL)
  })

  test('a key that was issued for another project', async () => {
    await createProject(database.store, { id: 'other', name: 'O', domain: 'o.example' }, NOW)
    const { key } = await issue()
    const token = await signToken(keys.signingKey, { keyId: key.id, projectId: 'other' }, NOW, null)
    expect(await getRefusal(`Bearer ${token}`)).toEqual(REFUSAL)
  })

  test('a revoked key', async () => {
    const { token, key } = await issue()
    await revokeKey(database.store, key.id, NOW)
    expect(await getRefusal(`Bearer ${token}`)).toEqual(REFUSAL)
  })
})

test('a key in use is refused 4 seconds after it was looked up, if it was revoked since', async () => {
  const { token, key } = await issue()
  await authenticator.authenticate(`Bearer ${token}`)
  await revokeKey(database.store, key.id, NOW)
  time += 3_999
  expect((await authenticator.authenticate(`Bearer ${token}`)).principal.keyId).toBe(key.id)
  time += 1
  expect(await getRefusal(`Bearer ${token}`)).toEqual(REFUSAL)
})

test('a change of the project takes effect 4 seconds after it was looked up', async () => {
  const { token } = await issue()
  const before = await authenticator.authenticate(`Bearer ${token}`)
  const changed = await updateProject(database.store, 'shop', { retentionDays: 7 })
  time += 3_999
  expect(await authenticator.authenticate(`Bearer ${token}`)).toEqual(before)
  time += 1
  expect((await authenticator.authenticate(`Bearer ${token}`)).project).toEqual(changed)
})

describe('a store outage is not an authentication failure', () => {
  test('a key in use is recalled without the store; a new, a revoked and an invalid one are not', async () => {
    const [used, unused, revoked] = [await issue(), await issue(), await issue()]
    await revokeKey(database.store, revoked.key.id, NOW)
    const known = await authenticator.authenticate(`Bearer ${used.token}`)
    await getRefusal(`Bearer ${revoked.token}`)
    const recalled = [used.token, unused.token, revoked.token, 'x'].map((token) =>
      authenticator.recall(`Bearer ${token}`),
    )
    expect(recalled).toEqual([known, undefined, undefined, undefined])
    expect(authenticator.recall(undefined)).toBeUndefined()
  })

  test('no connection: cached keys keep working, others get SERVICE_UNAVAILABLE', async () => {
    const { token } = await issue()
    const { token: other } = await issue()
    const proxy = await startProxy(database.endpoint.url)
    const reader = connect({ ...database.endpoint, url: proxy.url }, 'reader')
    const { authenticate } = createTestAuthenticator(reader)
    await authenticate(`Bearer ${token}`)
    await proxy.stop()
    expect((await authenticate(`Bearer ${token}`)).project.id).toBe('shop')
    expect(await getRefusal(`Bearer ${other}`, { authenticate })).toMatchObject(OUTAGE)
    expect(await getRefusal('Bearer x', { authenticate })).toEqual(REFUSAL)
    await reader.close()
  })

  test('no response in time', async () => {
    const { token } = await issue()
    const proxy = await startProxy(database.endpoint.url)
    const reader = connect({ ...database.endpoint, url: proxy.url }, 'reader')
    proxy.answer('never')
    expect(await getRefusal(`Bearer ${token}`, createTestAuthenticator(reader))).toMatchObject(
      OUTAGE,
    )
    await proxy.stop()
    await reader.close()
  })
})

test('keys are listed by project, the oldest first, and revoking a key twice changes nothing', async () => {
  await createProject(database.store, { id: 'list', name: 'L', domain: 'l.example' }, NOW)
  const later = new Date('2026-02-01T00:00:00.001Z')
  const expiresAt = new Date('2026-03-01T00:00:00.999Z')
  const { key: first } = await issue({ projectId: 'list', name: 'a' })
  const { key: second } = await issue({ projectId: 'list', name: 'b', expiresAt }, later)
  expect(second.expiresAt).toEqual(new Date('2026-03-01T00:00:00Z'))
  const revoked = await revokeKey(database.store, first.id, later)
  expect(await revokeKey(database.store, first.id, new Date())).toEqual(revoked)
  expect(await listKeys(database.store.reader, 'list')).toEqual([
    { ...first, revokedAt: later },
    second,
  ])
})

test.each<[string, Partial<KeyRequest>, string]>([
  ['for an unknown project', { projectId: 'nobody' }, 'there is no project nobody'],
  ['with an expiry in the past', { expiresAt: NOW }, 'the key must expire in the future'],
  [
    'with a name that is not printable',
    { name: 'a\nb' },
    'a name has at most 200 printable characters',
  ],
])('no key %s is issued', async (_why, request, message) => {
  await expect(issue(request)).rejects.toThrow(message)
})

test('a key that does not exist cannot be revoked', async () => {
  await expect(revokeKey(database.store, 'key_x', NOW)).rejects.toThrow('there is no key key_x')
})

interface Proxy {
  readonly url: string
  /** Whether connections are passed on, closed, or never get a response. */
  answer(how: boolean | 'never'): void
  stop(): Promise<void>
}

/** Starts a proxy in front of the engine that can be made to fail. */
async function startProxy(target: string): Promise<Proxy> {
  let how: boolean | 'never' = true
  const server = http.createServer((request, response) => {
    if (how === 'never') return
    if (!how) {
      request.destroy()
      return
    }
    const { method, url, headers } = request
    const onwards = http.request(
      new URL(url ?? '/', target),
      { method, headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      },
    )
    request.pipe(onwards)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (next) => {
      how = next
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
