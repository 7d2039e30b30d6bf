/** The client of management in `@tallyhouse/client`: what it sends. */
import { expect, test } from '@jest/globals'
import { createManagement, type ManagementClient } from '../../../clients/typescript/src/index.js'

const SHOP = { name: 'Shop', domain: 'shop.example' }

/** Sends a call to nobody. */
async function capture(
  call: (client: ManagementClient) => Promise<unknown>,
  respond = () => Response.json({}),
): Promise<Request> {
  let sent: Request | undefined
  const client = createManagement({
    url: 'https://stats.example/',
    adminKey: 'tallyadmin_x',
    fetch: (request) => {
      sent = request
      return Promise.resolve(respond())
    },
  })
  await call(client)
  return sent!
}

test.each<[string, (client: ManagementClient) => Promise<unknown>, string, object, string?]>([
  [
    'places in a path are encoded',
    (client) => client.deleteUser('shop', 'a/b?c %'),
    'DELETE /v1/projects/shop/users/a%2Fb%3Fc%20%25',
    {},
  ],
  [
    'options that are no headers are parameters, also beside a body',
    (client) =>
      client.putProject('shop', SHOP, { confirm: true, ifMatch: '"1"', ifNoneMatch: '*' }),
    'PUT /v1/projects/shop?confirm=true',
    { 'if-match': '"1"', 'if-none-match': '*', 'content-type': 'application/json' },
    JSON.stringify(SHOP),
  ],
  [
    'a parameter that is undefined is not sent',
    (client) => client.listProjects({ org: 'a&b' }),
    'GET /v1/projects?org=a%26b',
    { authorization: 'Bearer tallyadmin_x' },
  ],
  [
    'an idempotency key may be given',
    (client) => client.createNote('shop', { text: 'x' }, { idempotencyKey: 'deploy-7' }),
    'POST /v1/projects/shop/notes',
    { 'idempotency-key': 'deploy-7' },
    '{"text":"x"}',
  ],
])('%s', async (_, call, target, headers, body = '') => {
  const sent = await capture(call)
  const { pathname, search } = new URL(sent.url)
  expect([`${sent.method} ${pathname}${search}`, await sent.text()]).toEqual([target, body])
  expect(Object.fromEntries(sent.headers)).toMatchObject(headers)
})

test('queries across projects have no idempotency key, as they only read', async () => {
  const sent = await capture((client) => client.queryProjects({ date_range: '7days' }))
  expect(sent.headers.has('idempotency-key')).toBe(false)
})

test('an operation that does not end in time is an error', async () => {
  const waiting = () => Response.json({ id: 'op_1', state: 'waiting' })
  let result: unknown
  await capture(async (client) => {
    result = await client.waitForOperation('op_1', { maxWaitSeconds: 0.1 })
  }, waiting)
  expect(result).toMatchObject({
    ok: false,
    error: { code: 'NO_RESPONSE', message: 'The operation op_1 is waiting after 0.1 seconds.' },
  })
})
