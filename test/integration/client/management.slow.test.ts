/** The client of management in `@tallyhouse/client` with a service: each operation, pages, and requests that are sent again. */
import { expect, test } from '@jest/globals'
import { createManagement, type ManagementClient } from '../../../clients/typescript/src/index.js'
import { send as sendEvents } from '../../support/world/world.js'
import { requireProject } from '../../../src/projects/store.js'
import { withManagement } from '../management/management.js'

const management = withManagement()
const SHOP = { name: 'Shop', domain: 'shop.example' }

interface Given {
  readonly org?: string
  readonly fetch?: (request: Request) => Promise<Response>
}

const connect = async ({ org, ...options }: Given = {}): Promise<ManagementClient> =>
  createManagement({
    url: management.service.address,
    adminKey: await management.issue(org ?? null),
    ...options,
  })

/** Returns the data of a result. */
async function get<Data>(
  result: Promise<{ readonly ok: true; readonly data: Data } | { readonly ok: false }>,
): Promise<Data> {
  const settled = await result
  if (!settled.ok) throw new Error(JSON.stringify(settled))
  return settled.data
}

test('a project is created, changed by its tag, listed and deleted', async () => {
  const client = await connect({ org: 'acme' })
  const created = await get(client.createProject({ ...SHOP, id: 'c1' }))
  expect(created).toMatchObject({ id: 'c1', org: 'acme', token: expect.any(String) })
  const read = await client.getProject('c1')
  if (!read.ok) throw new Error(read.error.message)
  expect(read.data).toEqual(created)
  const changed = await client.updateProject('c1', { keepDays: 30 }, { ifMatch: read.etag })
  expect(changed).toMatchObject({ ok: true, data: { keepDays: 30 } })
  expect(await client.updateProject('c1', { keepDays: 31 }, { ifMatch: read.etag })).toMatchObject({
    ok: false,
    error: { status: 412, code: 'PRECONDITION_FAILED' },
  })
  expect(await client.putProject('c1', SHOP, { ifNoneMatch: '*' })).toMatchObject({ ok: false })
  for (const id of ['c2', 'c3']) await get(client.putProject(id, SHOP))
  const pages: string[][] = []
  for await (const page of client.projects({ limit: 2 })) {
    if (!page.ok) throw new Error(page.error.message)
    pages.push(page.data.map(({ id }) => id))
  }
  expect(pages).toEqual([['c1', 'c2'], ['c3']])

  const operation = await get(client.deleteProject('c3'))
  await management.runOperations()
  expect(await get(client.waitForOperation(operation.id))).toMatchObject({ state: 'done' })
  expect(await client.getProject('c3')).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } })
})

test('keys, notes, users, usage and queries', async () => {
  const client = await connect()
  await get(client.putProject('shop', SHOP))
  const project = await requireProject(management.store.writer, 'shop')
  const visits = ['u1', 'u2'].map((user_id) => ({
    ...{ user_id, name: 'pageview', timestamp: '2026-03-09T10:00:00.000Z' },
    url: 'https://shop.example/',
  }))
  await sendEvents(management.store, project, visits)

  const { key, secret } = await get(client.issueKey('shop', { name: 'dashboard' }))
  expect(secret).toMatch(/^tallykey_/)
  expect(await get(client.listKeys('shop'))).toEqual({ keys: [key] })
  expect(await get(client.revokeKey('shop', key.id))).toMatchObject({
    revokedAt: expect.any(String),
  })

  const note = await get(client.createNote('shop', { text: 'Deployed' }))
  expect(await get(client.listNotes('shop', { from: '2026-01-01T00:00:00Z' }))).toEqual({
    notes: [note],
  })
  expect(await client.deleteNote('shop', note.id)).toEqual({ ok: true, data: undefined })
  expect(await get(client.listNotes('shop'))).toEqual({ notes: [] })

  const body = { projects: ['shop'], date_range: '7days', metrics: ['users'] } as const
  expect(await get(client.queryProjects(body))).toMatchObject({
    data: [{ project: 'shop', metrics: { users: 2 } }],
  })
  expect(await get(client.getProjectStatus('shop'))).toMatchObject({ waiting: 0 })
  const { id } = await get(client.deleteUser('shop', 'u1'))
  await management.runOperations()
  expect(await get(client.waitForOperation(id))).toMatchObject({ result: { users: 1, events: 1 } })
  for await (const page of client.changes({ project: 'shop', limit: 1 })) {
    if (!page.ok) throw new Error(page.error.message)
    expect(page.data.every(({ projectId }) => projectId === 'shop')).toBe(true)
  }
})

/** Usage is that of the clock of the store. */
const PERIOD = { from: '2026-01-01', to: '2099-12-31' }

test('usage has all pages, as rows and as CSV', async () => {
  const client = await connect({ org: 'usage' })
  for (const id of ['w1', 'w2', 'w3']) {
    await get(client.createProject({ ...SHOP, id }))
    const project = await requireProject(management.store.writer, id)
    const event = { user_id: 'u', name: 'pageview', timestamp: '2026-03-09T10:00:00.000Z' }
    await sendEvents(management.store, project, [event])
  }
  const rows: string[] = []
  for await (const page of client.usage({ ...PERIOD, limit: 2 })) {
    if (!page.ok) throw new Error(page.error.message)
    rows.push(...page.data.map(({ project, accepted }) => `${project},${accepted}`))
  }
  expect(rows).toEqual(['w1,1', 'w2,1', 'w3,1'])
  const [header, ...lines] = (await get(client.usageCsv({ ...PERIOD, limit: 2 }))).split('\r\n')
  expect(header).toMatch(/^project,start,accepted,/)
  expect(lines.map((line) => line.split(',')[0])).toEqual(['w1', 'w2', 'w3', ''])
})

/** Loses the first response to each kind of request, after the service has sent it. */
function loseFirstResponses(): {
  readonly fetch: Required<Given>['fetch']
  readonly keys: string[]
} {
  const keys: string[] = []
  const lost = new Set<string>()
  return {
    keys,
    fetch: async (request) => {
      keys.push(request.headers.get('Idempotency-Key') ?? '')
      const response = await fetch(request)
      const kind = `${request.method} ${request.url}`
      if (lost.has(kind)) return response
      lost.add(kind)
      throw new TypeError('fetch failed', { cause: new Error('the connection was lost') })
    },
  }
}

test('what a repeated request creates is there once', async () => {
  const { fetch: send, keys } = loseFirstResponses()
  const client = await connect({ org: 'once', fetch: send })
  const project = await get(client.createProject(SHOP))
  expect(keys).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), keys[0]])
  const all = await connect({ org: 'once' })
  expect(await get(all.listProjects())).toMatchObject({ projects: [project] })
  const issued = await get(client.issueKey(project.id, { name: 'once' }))
  expect(await get(all.listKeys(project.id))).toEqual({ keys: [issued.key] })
  expect(new Set(keys).size).toBe(2)
})
