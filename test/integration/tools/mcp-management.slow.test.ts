/** The tools of admin keys: each call is the answer that the API gives alone, with the scopes and the organization of the key. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sample } from '../../support/effort.js'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { requireProject } from '../../../src/projects/store.js'
import { send as sendEvents } from '../../support/world/world.js'
import { withManagement } from '../management/management.js'
import { call, connectHttp, connectStdio } from './mcp-clients.js'

const management = withManagement()
const apart = withManagement({ MANAGEMENT_PORT: '0' })

const SHOP = { name: 'Shop', domain: 'shop.example' }
const KEYS = ['all', 'acme', 'usage'] as const
type KeyName = (typeof KEYS)[number]
const FORMS = ['HTTP', 'stdio'] as const

const keys = new Map<KeyName, string>()
const clients = new Map<string, Client>()
let operation: string

beforeAll(async () => {
  for (const [id, org] of [
    ['a1', 'acme'],
    ['a2', 'acme'],
    ['b1', null],
  ] as const) {
    await management.send('PUT', `/v1/projects/${id}`, { body: { ...SHOP, org } })
  }
  const project = await requireProject(management.store.writer, 'a1')
  const visit = { user_id: 'u', name: 'pageview', timestamp: '2026-03-09T10:00:00.000Z' }
  await sendEvents(management.store, project, [visit])
  const note = { text: 'Deployed', at: '2026-03-09T10:00:00Z' }
  await management.send('POST', '/v1/projects/a1/notes', { body: note })
  await management.send('POST', '/v1/projects/a1/keys', { body: { name: 'dashboard' } })
  const { body } = await management.send('DELETE', '/v1/projects/a2/users/u')
  operation = (body as { id: string }).id
  keys.set('all', await management.issue())
  keys.set('acme', await management.issue('acme'))
  keys.set('usage', await management.issue(null, ['usage:read']))
  const { address } = management.service
  for (const name of KEYS) {
    clients.set(`HTTP ${name}`, await connectHttp(address, keys.get(name)!, '/mcp'))
    clients.set(`stdio ${name}`, await connectStdio(address, keys.get(name)!))
  }
})
afterAll(async () => {
  for (const client of clients.values()) await client.close()
})

const ACROSS = { date_range: '7days', metrics: ['users'] }

/** The calls of each tool, and the requests that they stand for. */
const CALLS: readonly (readonly [tool: string, args: object, target: string])[] = [
  ['projects', {}, '/v1/projects'],
  ['projects', { org: 'acme', limit: 1 }, '/v1/projects?org=acme&limit=1'],
  ['project', { id: 'a1' }, '/v1/projects/a1'],
  ['project', { id: 'b1' }, '/v1/projects/b1'],
  ['project', { id: 'none' }, '/v1/projects/none'],
  ['status', { id: 'a1' }, '/v1/projects/a1/status'],
  ['query_projects', ACROSS, '/v1/analytics/projects'],
  ['query_projects', { ...ACROSS, projects: ['b1'] }, '/v1/analytics/projects'],
  ['query_projects', { ...ACROSS, metrics: ['visitors'] }, '/v1/analytics/projects'],
  [
    'usage',
    { from: '2026-01-01', to: '2099-12-31', interval: 'day' },
    '/v1/usage?from=2026-01-01&to=2099-12-31&interval=day',
  ],
  ['usage', { from: '2026-02-01', to: '2026-01-01' }, '/v1/usage?from=2026-02-01&to=2026-01-01'],
  ['keys', { id: 'a1' }, '/v1/projects/a1/keys'],
  [
    'notes',
    { id: 'a1', from: '2026-03-01T00:00:00Z' },
    '/v1/projects/a1/notes?from=2026-03-01T00%3A00%3A00Z',
  ],
  ['goals', { id: 'a1' }, '/v1/projects/a1/goals'],
  ['goal', { id: 'a1', name: 'none' }, '/v1/projects/a1/goals/none'],
  ['segments', { id: 'a1' }, '/v1/projects/a1/segments'],
  ['segment', { id: 'a1', name: 'none' }, '/v1/projects/a1/segments/none'],
  ['imports', { id: 'a1' }, '/v1/projects/a1/imports'],
  ['changes', { project: 'a1' }, '/v1/audit-log?project=a1'],
  ['operation', { id: 'OPERATION' }, '/v1/operations/OPERATION'],
]

describe.each(sample(FORMS, 2))('%s', (form) => {
  const clientOf = (name: KeyName): Client => clients.get(`${form} ${name}`)!

  test('an admin key has tools of its own, and is told about them', async () => {
    const client = clientOf('acme')
    expect(client.getInstructions()).toContain('The projects of a service')
    const { tools } = await client.listTools()
    expect(new Set(tools.map(({ name }) => name))).toEqual(new Set(CALLS.map(([tool]) => tool)))
    expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual(tools.map(() => true))
    expect((await client.listResources()).resources.length).toBeGreaterThan(5)
  })

  test.each(KEYS)('each call is the answer alone, with the key %s', async (name) => {
    for (const [tool, args, target] of CALLS) {
      const fill = (text: string): string => text.replace('OPERATION', operation)
      const alone = await management.send(
        tool === 'query_projects' ? 'POST' : 'GET',
        fill(target),
        { key: keys.get(name)!, ...(tool === 'query_projects' && { body: args }) },
      )
      const given = JSON.parse(fill(JSON.stringify(args))) as object
      const { isError, structured, text } = await call(clientOf(name), tool, given)
      expect([tool, isError]).toEqual([tool, alone.status !== 200])
      expect(isError ? (JSON.parse(text) as unknown) : structured).toEqual(alone.body)
    }
  })

  test.each([
    ['project', {}, ['id']],
    ['projects', { limit: 0 }, ['limit']],
    ['projects', { page: 2 }, ['page']],
    ['notes', { id: 'a1', from: 'yesterday' }, ['from']],
    ['usage', { interval: 'week' }, ['interval']],
  ])('%s: arguments that are not valid are named', async (tool, args, fields) => {
    const { isError, text } = await call(clientOf('all'), tool, args)
    const { error } = JSON.parse(text) as { error: { code: string; details: { field: string }[] } }
    expect([isError, error.code]).toEqual([true, 'VALIDATION_ERROR'])
    expect(error.details.map(({ field }) => field).sort()).toEqual(fields)
  })

  test('nothing can be changed', async () => {
    for (const tool of ['create_project', 'deleteProject', 'query']) {
      await expect(call(clientOf('all'), tool, SHOP)).rejects.toThrow('The tool must be one of')
    }
  })
})

test('an API key has its own tools beside, and other texts are no keys', async () => {
  const { body } = await management.send('POST', '/v1/projects/a1/keys', { body: {} })
  const { secret } = body as { secret: string }
  const client = await connectHttp(management.service.address, secret, '/mcp')
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('query')
  await client.close()
  for (const key of ['', 'x', 'tallyadmin_x']) {
    const sent = await management.send('POST', '/mcp', { key, body: {} })
    expect([key, sent.status]).toEqual([key, 401])
  }
})

test('the port of management serves the tools, and the other port does not', async () => {
  const key = await apart.issue()
  const client = await connectHttp(apart.service.managementAddress ?? '', key, '/mcp')
  expect(await call(client, 'projects', {})).toMatchObject({ structured: { projects: [] } })
  await client.close()
  const other = await apart.send('POST', '/mcp', { key, body: {} }, apart.service.address)
  expect(other.status).toBe(401)
})
