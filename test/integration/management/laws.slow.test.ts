/** Laws of management: no request breaks it, none touches another organization's projects, and changes of two services have an order. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { MANAGEMENT_OPERATIONS } from '../../../src/http/management/list.js'
import { scaled } from '../../support/effort.js'
import { withManagement, type Sent } from './management.js'

const service = withManagement()
const { send } = service
let second: RunningService
beforeAll(async () => {
  second = await service.start()
})
afterAll(() => second.stop())

const SHOP = { name: 'Shop', domain: 'shop.example' }

/** Values of the right form, and of wrong ones. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  id: ['mine', 'theirs', 'new', 'a/b', ''],
  org: ['mine', 'theirs', null, 'a b'],
  name: ['Shop', '', 'x'.repeat(201), '\u0000', 5],
  domain: ['shop.example', 'a b', '', 'http://a'],
  timeZone: ['Europe/Berlin', null, 'Mars/Olympus', ''],
  hasPublicDashboard: [true, 'yes'],
  embedOrigins: [['https://a.example'], ['a'], 'a'],
  excludedIps: [[], ['192.0.2.1'], ['x'], 'x'],
  excludedCountries: [['DE'], ['xx'], null],
  retentionDays: [null, 30, 0, 1.5],
  keepDays: [null, 400, -1],
  width: [1, 2, 0],
  shard: ['s9'],
  graceSeconds: [0, 60, -1, '1'],
  scopes: [['read'], [], ['all']],
  expiresAt: ['2030-01-01T00:00:00Z', 'soon', null],
  userIds: [['u'], [], [''], 'u'],
  text: ['Deployed', '', '\u0007'],
  at: ['2026-01-01T00:00:00Z', '2026-01-01', 5],
  until: ['2026-01-02T00:00:00Z', '2025-01-01T00:00:00Z'],
  projects: [['mine'], ['theirs'], []],
  date_range: ['30days', ['2026-01-01', '2026-01-31'], 'ever'],
  metrics: [['users'], ['x']],
}

const body = fc.record(
  Object.fromEntries(
    Object.entries(VALUES).map(([name, values]) => [name, fc.constantFrom(...values)]),
  ),
  { requiredKeys: [] },
)
const small = fc
  .tuple(body, fc.shuffledSubarray(Object.keys(VALUES), { maxLength: 4 }))
  .map(([full, names]) =>
    Object.fromEntries(Object.entries(full).filter(([name]) => names.includes(name))),
  )
const anyRequest = fc.record({
  operation: fc.constantFrom(...MANAGEMENT_OPERATIONS),
  id: fc.constantFrom('mine', 'theirs', 'none', 'a%2Fb', '%00'),
  other: fc.constantFrom('x', '%ff', 'u%20u'),
  body: fc.oneof(
    small,
    small.map((some) => ({ ...SHOP, ...some })),
    fc.constant({ text: 'x' }),
  ),
  query: fc.constantFrom('', '?limit=5', '?limit=x', '?confirm=true', '?from=2026-01-01', '?a=b'),
  headers: fc.constantFrom(
    {},
    { 'If-Match': '"x"' },
    { 'If-None-Match': '*' },
    { 'Idempotency-Key': 'one' },
    { 'Idempotency-Key': 'a b' },
  ),
})

/** What the owner sees of the other organization. */
const look = async (): Promise<readonly unknown[]> =>
  Promise.all(
    [
      '/v1/projects/theirs',
      '/v1/projects/theirs/keys',
      '/v1/projects/theirs/notes',
      '/v1/projects?org=theirs',
      '/v1/audit-log?project=theirs',
    ].map(async (path) => (await send('GET', path)).body),
  )

test('no request is an error of the service, and none sees or changes what is of another organization', async () => {
  for (const org of ['mine', 'theirs']) {
    await send('PUT', `/v1/projects/${org}`, { body: { ...SHOP, org } })
    await send('POST', `/v1/projects/${org}/keys`, { body: {} })
    await send('POST', `/v1/projects/${org}/notes`, { body: { text: `secret of ${org}` } })
  }
  const key = await service.issue('mine')
  const before = await look()
  await fc.assert(
    fc.asyncProperty(anyRequest, async ({ operation, id, other, query, headers, ...asked }) => {
      const { method, path } = operation
      const target = path.replace('{id}', id).replaceAll(/\{\w+\}/g, other) + query
      const hasBody = ['post', 'put', 'patch'].includes(method)
      const sent: Sent = await send(method.toUpperCase(), target, {
        key,
        headers,
        ...(hasBody ? { body: asked.body } : {}),
      })
      expect([sent.status < 500, sent.body]).toEqual([true, sent.body])
      expect(JSON.stringify(sent.body ?? '')).not.toContain('secret of theirs')
      if (sent.status >= 400 && sent.status !== 400) {
        expect(sent.body).toMatchObject({ error: { code: expect.any(String) as unknown } })
      }
    }),
    { numRuns: scaled(400) },
  )
  expect(await look()).toEqual(before)
})

test('changes that two services make at once have an order', async () => {
  const addresses = [service.service.address, second.address]
  const created = await Promise.all(
    addresses.map((address) => send('PUT', '/v1/projects/raced', { body: SHOP }, address)),
  )
  // The second caller finds it: as it wants it, or being created.
  expect(created.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1)
  const names = Array.from({ length: 12 }, (_, i) => `Name ${i}`)
  const changed = await Promise.all(
    names.map((name, i) =>
      send('PATCH', '/v1/projects/raced', { body: { name } }, addresses[i % 2]),
    ),
  )
  expect(changed.map(({ status }) => status)).toEqual(names.map(() => 200))
  const { body } = await send('GET', '/v1/audit-log?project=raced')
  const { changes } = body as {
    changes: { action: string; before: { name: string }; after: { name: string } }[]
  }
  const steps = new Map(
    changes
      .filter(({ action }) => action === 'project.update')
      .map(({ before, after }) => [before.name, after.name]),
  )
  const order: string[] = []
  for (let name = steps.get(SHOP.name); name !== undefined; name = steps.get(name)) order.push(name)
  expect(order.toSorted()).toEqual(names.toSorted())
  expect((await send('GET', '/v1/projects/raced')).body).toMatchObject({ name: order.at(-1) })
})

interface Raced {
  readonly id: string
  /** The id of its API key. */
  readonly keyId: string
  /** Sends a request to one of the services. */
  readonly ask: (method: string, path: string, body?: object) => Promise<Sent>
}

/** What two callers may do with the same project at the same time. */
const RACED: Readonly<Record<string, (raced: Raced) => Promise<Sent>>> = {
  replace: ({ ask }) => ask('PUT', '', { ...SHOP, name: 'Replaced' }),
  rename: ({ ask }) => ask('PATCH', '', { name: 'Renamed' }),
  delete: ({ ask }) => ask('DELETE', ''),
  'issue a key': ({ ask }) => ask('POST', '/keys', { name: 'second' }),
  'revoke the key': ({ ask, keyId }) => ask('DELETE', `/keys/${keyId}`),
  rotate: ({ ask }) => ask('POST', '/public-token/rotate', { graceSeconds: 0 }),
}

const PAIRS = Object.keys(RACED).flatMap((one, i, all) =>
  all.slice(i).map((other) => [one, other] as const),
)

test.each(PAIRS)(
  '%s and %s at once: what happens is what happens one after the other',
  async (first, then) => {
    let count = 0
    /** Does both on a new project, as `run` says. Returns what is observed of each, and what is left in the end. */
    const observe = async (
      run: (one: () => Promise<number>, other: () => Promise<number>) => Promise<readonly number[]>,
    ): Promise<string> => {
      count += 1
      const id = `raced-${PAIRS.findIndex((pair) => pair[0] === first && pair[1] === then)}-${count}`
      await send('PUT', `/v1/projects/${id}`, { body: SHOP })
      const issued = await send('POST', `/v1/projects/${id}/keys`, { body: { name: 'first' } })
      const { id: keyId } = issued.body as { id: string }
      const start = (name: string, address: string) => async (): Promise<number> => {
        const ask: Raced['ask'] = (method, path, body) =>
          send(method, `/v1/projects/${id}${path}`, body === undefined ? {} : { body }, address)
        return (await RACED[name]!({ id, keyId, ask })).status
      }
      const statuses = await run(start(first, service.service.address), start(then, second.address))
      await service.runOperations()
      const { status, body } = await send('GET', `/v1/projects/${id}`)
      const keys = await send('GET', `/v1/projects/${id}/keys`)
      const { name } = body as { name?: string }
      const listed =
        (keys.body as { keys?: { name: string; revokedAt: string | null }[] }).keys ?? []
      const valid = listed.filter(({ revokedAt }) => revokedAt === null).map((key) => key.name)
      return JSON.stringify({ statuses, status, name, valid: valid.toSorted() })
    }
    const allowed = [
      await observe(async (one, other) => [await one(), await other()]),
      await observe(async (one, other) => {
        const last = await other()
        return [await one(), last]
      }),
    ]
    for (let n = 0; n < scaled(4); n++) {
      expect(allowed).toContain(await observe((one, other) => Promise.all([one(), other()])))
    }
  },
)
