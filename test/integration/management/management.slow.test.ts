/** The operations of management over HTTP, with a real store: what they change, refuse, and record. */
import { expect, test } from '@jest/globals'
import { MANAGEMENT_OPERATIONS } from '../../../src/http/management/list.js'
import { readSpecs } from '../../../src/contract/spec.js'
import { ADMIN_SCOPES } from '../../../src/contract/admin-scopes.js'
import { send as sendEvents, type SentEvent } from '../../support/world/world.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { requireProject } from '../../../src/projects/store.js'
import { NOW, withManagement, type Sent } from './management.js'

const service = withManagement()
const { send } = service

const SHOP = { name: 'Shop', domain: 'shop.example' }
const codeOf = ({ status, body }: Sent) => {
  const { error } = body as {
    error: { code: string; message: string; details?: { field: string }[] }
  }
  return [status, error.code, ...(error.details ?? []).map(({ field }) => field)]
}
const put = (id: string, body: object = SHOP, headers = {}): Promise<Sent> =>
  send('PUT', `/v1/projects/${id}`, { body, headers })

test('the list has the operations of the contract', () => {
  const { paths } = readSpecs().management.document as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>
  }
  const declared = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  )
  const own = MANAGEMENT_OPERATIONS.filter(({ checkedAs }) => checkedAs === undefined)
  expect(own.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(declared.sort())
})

test('a project is created, read, changed and found', async () => {
  const created = await send('POST', '/v1/projects', { body: { ...SHOP, id: 'a1', org: 'acme' } })
  const token = expect.stringMatching(/^tallypub_/) as unknown
  const project = {
    ...{ id: 'a1', org: 'acme', ...SHOP, token, formerToken: null, createdAt: NOW.toISOString() },
    ...{ hasPublicDashboard: false, embedOrigins: [], excludedIps: [], excludedCountries: [] },
    ...{ timeZone: null, retentionDays: null, keepDays: null, shards: [], isDeleting: false },
  }
  expect([created.status, created.body, created.headers.get('location')]).toEqual([
    201,
    project,
    '/v1/projects/a1',
  ])
  const tag = created.headers.get('etag') ?? ''
  const unchanged = await send('GET', '/v1/projects/a1', { headers: { 'If-None-Match': tag } })
  expect([unchanged.status, unchanged.body]).toEqual([304, undefined])
  const changed = await send('PATCH', '/v1/projects/a1', {
    body: { excludedIps: ['192.0.2.1'], timeZone: 'Europe/Berlin' },
    headers: { 'If-Match': tag },
  })
  expect(changed.body).toEqual({
    ...project,
    excludedIps: ['192.0.2.1'],
    timeZone: 'Europe/Berlin',
  })
  const listed = await send('GET', '/v1/projects?org=acme&name=SHO')
  expect(listed.body).toEqual({ projects: [changed.body], nextCursor: null })
})

test('PUT is repeatable: the same document changes nothing, and what it leaves out has its default', async () => {
  const settings = { ...SHOP, keepDays: 30, excludedCountries: ['KP'], timeZone: 'Asia/Tokyo' }
  const first = await put('p1', settings)
  const second = await put('p1', settings)
  expect([first.status, second.status]).toEqual([201, 200])
  expect(second.body).toEqual(first.body)
  expect(second.headers.get('etag')).toBe(first.headers.get('etag'))
  const third = await put('p1', SHOP)
  expect(third.body).toEqual({
    ...(first.body as object),
    ...{ keepDays: null, excludedCountries: [], timeZone: null },
  })
})

test('projects are listed a page at a time, each once', async () => {
  for (const id of ['l1', 'l2', 'l3']) await put(id, { ...SHOP, org: 'pages' })
  const seen: string[] = []
  for (let cursor = ''; ;) {
    const { body } = await send('GET', `/v1/projects?org=pages&limit=2${cursor}`)
    const page = body as { projects: { id: string }[]; nextCursor: string | null }
    seen.push(...page.projects.map(({ id }) => id))
    if (page.nextCursor === null) break
    cursor = `&cursor=${page.nextCursor}`
  }
  expect(seen).toEqual(['l1', 'l2', 'l3'])
})

test('of two changes with one entity tag, one gets PRECONDITION_FAILED', async () => {
  const { headers } = await put('race')
  const tag = headers.get('etag') ?? ''
  const sent = await Promise.all(
    ['A', 'B', 'C'].map((name) =>
      send('PATCH', '/v1/projects/race', { body: { name }, headers: { 'If-Match': tag } }),
    ),
  )
  expect(sent.map(({ status }) => status).sort()).toEqual([200, 412, 412])
  const failed = sent.find(({ status }) => status === 412)!
  expect(codeOf(failed)).toEqual([412, 'PRECONDITION_FAILED'])
})

const BAD: readonly (readonly [string, string, unknown, object, readonly unknown[]])[] = [
  ['POST', '/v1/projects', {}, {}, [400, 'VALIDATION_ERROR', 'name', 'domain']],
  ['POST', '/v1/projects', { ...SHOP, nmae: 'x' }, {}, [400, 'VALIDATION_ERROR', 'nmae']],
  ['POST', '/v1/projects', { ...SHOP, domain: 'a b' }, {}, [400, 'VALIDATION_ERROR', 'domain']],
  ['POST', '/v1/projects', { ...SHOP, id: 'a/b' }, {}, [400, 'VALIDATION_ERROR', 'id']],
  ['POST', '/v1/projects', { ...SHOP, keepDays: 0 }, {}, [400, 'VALIDATION_ERROR', 'keepDays']],
  [
    'POST',
    '/v1/projects',
    { ...SHOP, excludedIps: ['1.2.3'] },
    {},
    [400, 'VALIDATION_ERROR', 'excludedIps'],
  ],
  [
    'POST',
    '/v1/projects',
    { ...SHOP, timeZone: 'Mars/Olympus' },
    {},
    [400, 'VALIDATION_ERROR', 'timeZone'],
  ],
  ['PATCH', '/v1/projects/taken', { timeZone: '' }, {}, [400, 'VALIDATION_ERROR', 'timeZone']],
  ['POST', '/v1/projects', { ...SHOP, shard: 'x' }, {}, [400, 'VALIDATION_ERROR', 'shard']],
  ['POST', '/v1/projects', { ...SHOP, id: 'taken' }, {}, [409, 'CONFLICT']],
  ['PUT', '/v1/projects/taken', SHOP, { 'If-None-Match': '*' }, [412, 'PRECONDITION_FAILED']],
  ['PUT', '/v1/projects/none', SHOP, { 'If-Match': '"x"' }, [412, 'PRECONDITION_FAILED']],
  ['PATCH', '/v1/projects/taken', {}, {}, [400, 'VALIDATION_ERROR', 'body']],
  ['PATCH', '/v1/projects/none', { name: 'x' }, {}, [404, 'NOT_FOUND']],
  ['GET', '/v1/projects?limit=0', undefined, {}, [400, 'VALIDATION_ERROR', 'limit']],
  ['GET', '/v1/projects?foo=1', undefined, {}, [400, 'VALIDATION_ERROR', 'foo']],
  ['GET', '/v1/projects/none', undefined, {}, [404, 'NOT_FOUND']],
  ['DELETE', '/v1/projects/none', undefined, {}, [404, 'NOT_FOUND']],
  ['DELETE', '/v1/projects', undefined, {}, [405, 'METHOD_NOT_ALLOWED']],
  [
    'POST',
    '/v1/projects/taken/keys',
    { scopes: ['all'] },
    {},
    [400, 'VALIDATION_ERROR', 'scopes.0'],
  ],
  [
    'POST',
    '/v1/projects/taken/keys',
    { expiresAt: '2020-01-01T00:00:00Z' },
    {},
    [400, 'VALIDATION_ERROR', 'expiresAt'],
  ],
  ['DELETE', '/v1/projects/taken/keys/key_x', undefined, {}, [404, 'NOT_FOUND']],
  [
    'POST',
    '/v1/projects/taken/users/delete',
    { userIds: [] },
    {},
    [400, 'VALIDATION_ERROR', 'userIds'],
  ],
  [
    'POST',
    '/v1/projects/taken/users/delete',
    { userIds: Array.from({ length: 1_001 }, (_, i) => `u${i}`) },
    {},
    [400, 'VALIDATION_ERROR', 'userIds'],
  ],
  ['POST', '/v1/projects/taken/notes', { text: ' ' }, {}, [400, 'VALIDATION_ERROR', 'text']],
  [
    'POST',
    '/v1/projects/taken/notes',
    { text: 'x', at: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' },
    {},
    [400, 'VALIDATION_ERROR', 'until'],
  ],
  ['DELETE', '/v1/projects/taken/notes/note_x', undefined, {}, [404, 'NOT_FOUND']],
  ['GET', '/v1/operations/op_x', undefined, {}, [404, 'NOT_FOUND']],
  ['GET', '/v1/audit-log?cursor=x', undefined, {}, [400, 'VALIDATION_ERROR', 'cursor']],
]

test.each(BAD)('%s %s with %j is refused', async (method, target, body, headers, want) => {
  await put('taken')
  const sent = await send(method, target, {
    body,
    headers: headers as Readonly<Record<string, string>>,
  })
  expect(codeOf(sent)).toEqual(want)
})

test('an id that is taken gets CONFLICT', async () => {
  await put('taken')
  expect(codeOf(await send('POST', '/v1/projects', { body: { ...SHOP, id: 'taken' } }))).toEqual([
    409,
    'CONFLICT',
  ])
})

test('no key, a wrong one, one that has expired, and an API key are refused', async () => {
  const soon = await service.issue(null, undefined, new Date(NOW.getTime() + 60_000))
  expect((await send('GET', '/v1/projects', { key: soon })).status).toBe(200)
  service.setNow(new Date(NOW.getTime() + 120_000))
  const keys = ['', `${soon.slice(0, -1)}!`, `${soon.slice(0, -1)}x`, soon, 'tallykey_x']
  for (const key of keys) {
    expect(codeOf(await send('GET', '/v1/projects', { key }))).toEqual([401, 'UNAUTHORIZED'])
  }
  service.setNow(NOW)
})

const fill = (path: string): string =>
  path
    .replace('{id}', 'own')
    .replace('{key}', 'key_x')
    .replace('{user_id}', 'u')
    .replace('{note}', 'note_x')
    .replace('{operation}', 'op_x')
    .replace('{name}', 'signup')

test.each(MANAGEMENT_OPERATIONS)(
  '$method $path needs its scope',
  async ({ method, path, scope }) => {
    const others = ADMIN_SCOPES.filter((one) => one !== scope)
    const key = await service.issue(null, others)
    const body = ['post', 'put', 'patch'].includes(method) ? {} : undefined
    const sent = await send(method.toUpperCase(), fill(path), { key, body })
    expect(codeOf(sent)).toEqual([403, 'INSUFFICIENT_SCOPE'])
    expect(JSON.stringify(sent.body)).toContain(`the scope ${scope}.`)
  },
)

test('a key of an organization neither sees nor changes what is not its own', async () => {
  const key = await service.issue('mine')
  await put('own', { ...SHOP, org: 'theirs' })
  const before = await send('GET', '/v1/projects/own')
  const bodies: Readonly<Record<string, object>> = {
    'put /v1/projects/{id}': SHOP,
    'patch /v1/projects/{id}': { name: 'x' },
    'post /v1/projects/{id}/public-token/rotate': {},
    'post /v1/projects/{id}/keys': {},
    'post /v1/projects/{id}/users/delete': { userIds: ['u'] },
    'post /v1/projects/{id}/notes': { text: 'x' },
    'put /v1/projects/{id}/goals/{name}': { filters: [{ type: 'user', anonymous: false }] },
    'put /v1/projects/{id}/segments/{name}': { filters: [{ type: 'user', anonymous: false }] },
  }
  for (const { method, path } of MANAGEMENT_OPERATIONS) {
    if (!path.includes('/projects/{id}')) continue
    const body = bodies[`${method} ${path}`]
    const sent = await send(method.toUpperCase(), fill(path), { key, body })
    // Creating it finds that its id is taken, without saying by whom.
    const creates = method === 'put' && path === '/v1/projects/{id}'
    const want = creates ? [409, 'CONFLICT'] : [404, 'NOT_FOUND']
    expect([method, path, ...codeOf(sent)]).toEqual([method, path, ...want])
  }
  expect((await send('GET', '/v1/projects/own')).body).toEqual(before.body)
  expect((await send('GET', '/v1/projects', { key })).body).toEqual({
    projects: [],
    nextCursor: null,
  })
  expect((await send('GET', '/v1/audit-log', { key })).body).toEqual({
    changes: [],
    nextCursor: null,
  })
  const theirs = await send('POST', '/v1/projects', { key, body: { ...SHOP, org: 'theirs' } })
  expect(codeOf(theirs)).toEqual([400, 'VALIDATION_ERROR', 'org'])
  const made = await send('POST', '/v1/projects', { key, body: SHOP })
  expect(made.body).toMatchObject({ org: 'mine' })
})

test('an issued key reads its project until it is revoked, and appears nowhere else', async () => {
  await put('keys')
  const { body } = await send('POST', '/v1/projects/keys/keys', { body: { name: 'one' } })
  const issued = body as { key: { id: string }; secret: string }
  const read = await send('GET', '/v1/project', { key: issued.secret })
  expect(read.body).toMatchObject({ project: { id: 'keys' } })
  const listed = await send('GET', '/v1/projects/keys/keys')
  expect(listed.body).toEqual({ keys: [issued.key] })
  const revoked = await send('DELETE', `/v1/projects/keys/keys/${issued.key.id}`)
  expect(revoked.body).toEqual({ ...issued.key, revokedAt: NOW.toISOString() })
  const again = await send('DELETE', `/v1/projects/keys/keys/${issued.key.id}`)
  expect(again.body).toEqual(revoked.body)
})

test('a rotated token replaces the former one, which is valid for a while', async () => {
  const { body } = await put('tokens')
  const { token } = body as { token: string }
  const rotated = await send('POST', '/v1/projects/tokens/public-token/rotate', {
    body: { graceSeconds: 60 },
  })
  const until = new Date(NOW.getTime() + 60_000).toISOString()
  expect(rotated.body).toMatchObject({ formerToken: { token, until } })
  expect(rotated.body).not.toMatchObject({ token })
})

test('notes are read by the key of the project alone', async () => {
  await put('noted')
  await put('other')
  const note = await send('POST', '/v1/projects/noted/notes', {
    body: { text: 'Deployed', at: '2026-03-01T10:00:00+02:00' },
  })
  expect(note.body).toEqual({
    id: expect.stringMatching(/^note_/) as unknown,
    ...{ at: '2026-03-01T08:00:00.000Z', until: null, text: 'Deployed' },
    createdAt: NOW.toISOString(),
  })
  const { body } = await send('POST', '/v1/projects/noted/keys', { body: {} })
  const { secret } = body as { secret: string }
  const period = '?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z'
  const read = await send('GET', `/v1/projects/noted/notes${period}`, { key: secret })
  expect(read.body).toEqual({ notes: [note.body] })
  const earlier = await send('GET', '/v1/projects/noted/notes?to=2026-03-01T00:00:00Z')
  expect(earlier.body).toEqual({ notes: [] })
  expect(codeOf(await send('GET', '/v1/projects/other/notes', { key: secret }))).toEqual([
    404,
    'NOT_FOUND',
  ])
  expect(codeOf(await send('GET', '/v1/projects/noted', { key: secret }))).toEqual([
    401,
    'UNAUTHORIZED',
  ])
  const { id } = note.body as { id: string }
  expect((await send('DELETE', `/v1/projects/noted/notes/${id}`)).status).toBe(204)
  expect((await send('GET', '/v1/projects/noted/notes')).body).toEqual({ notes: [] })
})

test('a request with an Idempotency-Key runs once', async () => {
  const headers = { 'Idempotency-Key': 'signup-1' }
  const first = await send('POST', '/v1/projects', { body: { ...SHOP, org: 'once' }, headers })
  const second = await send('POST', '/v1/projects', { body: { ...SHOP, org: 'once' }, headers })
  expect([second.status, second.body]).toEqual([201, first.body])
  const other = await send('POST', '/v1/projects', { body: { ...SHOP, org: 'twice' }, headers })
  expect(codeOf(other)).toEqual([409, 'CONFLICT'])
  const together = await Promise.all(
    Array.from({ length: 5 }, () =>
      send('POST', '/v1/projects', {
        body: { ...SHOP, org: 'once' },
        headers: { 'Idempotency-Key': 'signup-2' },
      }),
    ),
  )
  const created = together.filter(({ status }) => status === 201)
  const waiting = together.filter(({ status }) => status !== 201)
  expect(created.length).toBeGreaterThan(0)
  expect(waiting.map((one) => [one.status, one.headers.get('retry-after')])).toEqual(
    waiting.map(() => [409, '1']),
  )
  const listed = await send('GET', '/v1/projects?org=once')
  expect((listed.body as { projects: object[] }).projects).toHaveLength(2)
  const issued = await put('secrets').then(() =>
    send('POST', '/v1/projects/secrets/keys', { body: {}, headers: { 'Idempotency-Key': 'k' } }),
  )
  const again = await send('POST', '/v1/projects/secrets/keys', {
    body: {},
    headers: { 'Idempotency-Key': 'k' },
  })
  expect(again.body).toEqual(issued.body)
})

test('a refused request may be sent again with its Idempotency-Key', async () => {
  const headers = { 'Idempotency-Key': 'later' }
  const body = { ...SHOP, domain: 'not one' }
  expect((await send('POST', '/v1/projects', { body, headers })).status).toBe(400)
  expect((await send('POST', '/v1/projects', { body, headers })).status).toBe(400)
})

const visit = (user_id: string): SentEvent => ({
  name: 'pageview',
  user_id,
  timestamp: '2026-03-09T10:00:00Z',
  url: 'https://shop.example/',
})

test('users are deleted by an operation, and unknown ones are named', async () => {
  await put('people')
  const project = await requireProject(service.store.reader, 'people')
  await sendEvents(service.store, project, ['a', 'b', 'c'].map(visit))
  const begun = await send('POST', '/v1/projects/people/users/delete', {
    body: { userIds: ['a', 'b', 'x', 'a'] },
  })
  const { id } = begun.body as { id: string }
  expect([begun.status, begun.headers.get('location')]).toEqual([202, `/v1/operations/${id}`])
  expect(begun.body).toMatchObject({ state: 'waiting', kind: 'user_deletion', result: null })
  await service.runOperations()
  const ended = await send('GET', `/v1/operations/${id}`)
  expect(ended.body).toEqual({
    ...(begun.body as object),
    ...{ state: 'done', endedAt: NOW.toISOString() },
    result: { events: 2, users: 2, unknownUserIds: ['x'] },
  })
  const stored = await service.store.reader.query<{ user: string }>(
    statement(sql`SELECT user_id AS user FROM users WHERE project_id = 'people'`),
  )
  expect(stored.rows).toEqual([{ user: 'c' }])
})

test('a project is deleted once, and a smaller keepDays needs a confirmation', async () => {
  await put('gone')
  const project = await requireProject(service.store.reader, 'gone')
  await sendEvents(service.store, project, [visit('a')])
  const keep = { body: { keepDays: 1 } }
  service.setNow(new Date('2026-03-20T12:00:00Z'))
  expect(codeOf(await send('PATCH', '/v1/projects/gone', keep))).toEqual([409, 'CONFLICT'])
  const confirmed = await send('PATCH', '/v1/projects/gone?confirm=true', keep)
  expect(confirmed.body).toMatchObject({ keepDays: 1 })
  service.setNow(NOW)
  const begun = await send('DELETE', '/v1/projects/gone')
  expect(begun.status).toBe(202)
  expect(codeOf(await send('DELETE', '/v1/projects/gone'))).toEqual([409, 'CONFLICT'])
  await service.runOperations()
  const { id } = begun.body as { id: string }
  expect((await send('GET', `/v1/operations/${id}`)).body).toMatchObject({
    state: 'done',
    result: { events: 1, users: 1, unknownUserIds: [] },
  })
  expect(codeOf(await send('GET', '/v1/projects/gone'))).toEqual([404, 'NOT_FOUND'])
})

test('what a deleted project used stays, for its organization and apart from a later project', async () => {
  const [leaving, other] = await Promise.all(['leaving', 'other'].map((org) => service.issue(org)))
  const readUsage = async (key: string | undefined, query: string): Promise<readonly object[]> => {
    const { body } = await send('GET', `/v1/usage?from=2020-01-01&to=2099-12-31${query}`, {
      key: key!,
    })
    return (body as { usage: readonly object[] }).usage
  }
  await put('left', { ...SHOP, org: 'leaving' })
  const project = await requireProject(service.store.reader, 'left')
  await sendEvents(service.store, project, [visit('a')])
  const [used] = await readUsage(leaving, '&project=left')
  expect(used).toMatchObject({ project: 'left', counted: 1, isDeleted: false })
  await send('DELETE', '/v1/projects/left')
  await service.runOperations()
  const kept = { ...used, bytes: 0, isDeleted: true }
  for (const query of ['&project=left', '', '&org=leaving', '&limit=1']) {
    expect(await readUsage(leaving, query)).toEqual([kept])
  }
  expect(await readUsage(other, '')).toEqual([])
  expect(await readUsage(other, '&project=left')).toEqual([])
  await put('left', { ...SHOP, org: 'other' })
  const later = await requireProject(service.store.reader, 'left')
  await sendEvents(service.store, later, [visit('a'), visit('b')])
  expect(await readUsage(other, '')).toMatchObject([{ counted: 2, isDeleted: false }])
  expect(await readUsage(leaving, '&project=left')).toEqual([kept])
  expect(await readUsage(undefined, '&project=left')).toMatchObject([
    { counted: 2, isDeleted: false },
    kept,
  ])
})

test('the audit log has each change once, with what it changed, and no secret', async () => {
  await put('logged')
  await put('logged')
  await send('PATCH', '/v1/projects/logged', { body: { name: 'New', domain: SHOP.domain } })
  const { body } = await send('POST', '/v1/projects/logged/keys', { body: { name: 'k' } })
  const { secret } = body as { secret: string }
  const { body: log } = await send('GET', '/v1/audit-log?project=logged')
  const { changes } = log as { changes: { action: string; before: object; after: object }[] }
  expect(changes.map(({ action, before, after }) => [action, before, after])).toEqual([
    ['key.issue', null, { name: 'k', scopes: ['read'], expiresAt: null }],
    ['project.update', { name: 'Shop' }, { name: 'New' }],
    [
      'project.create',
      null,
      {
        ...{
          org: null,
          ...SHOP,
          hasPublicDashboard: false,
          embedOrigins: [],
          excludedIps: [],
          excludedCountries: [],
        },
        ...{ timeZone: null, retentionDays: null, keepDays: null },
      },
    ],
  ])
  expect(JSON.stringify(log)).not.toContain(secret)
})

test('usage adds up, and knows the queries of the key', async () => {
  await put('used', { ...SHOP, org: 'metered' })
  const project = await requireProject(service.store.reader, 'used')
  await sendEvents(service.store, project, [visit('a'), visit('b')])
  const { body } = await send('GET', '/v1/usage?project=used&from=2026-01-01&to=2099-12-31')
  const { usage, nextCursor } = body as {
    usage: { accepted: number; counted: number }[]
    nextCursor: string | null
  }
  expect([usage.length, usage[0]?.accepted, usage[0]?.counted, nextCursor]).toEqual([1, 2, 2, null])
  const csv = await fetch(
    `${service.service.address}/v1/usage?org=metered&from=2026-01-01&to=2099-12-31&interval=day`,
    { headers: { Accept: 'text/csv', Authorization: `Bearer ${await service.issue('metered')}` } },
  )
  const [header, row, ...more] = (await csv.text()).split('\r\n')
  expect([header?.split(',').slice(0, 4), row?.split(',')[0], more]).toEqual([
    ['project', 'start', 'accepted', 'counted'],
    'used',
    [],
  ])
})

test('the status of a project says when its events were', async () => {
  await put('well')
  const project = await requireProject(service.store.reader, 'well')
  await sendEvents(service.store, project, [visit('a')])
  const { body } = await send('GET', '/v1/projects/well/status')
  expect(body).toEqual({
    ...{ firstEventAt: '2026-03-09T10:00:00.000Z', lastEventAt: '2026-03-09T10:00:00.000Z' },
    ...{ waiting: 0, lagSeconds: 0 },
    rejectedLately: {
      ...{ days: 7, samples: [] },
      reasons: { unreadable: 0, size: 0, users: 0, timestamp: 0, field: 0, other: 0 },
    },
    problems: [],
  })
})

test('a query across the projects of an organization that has none has no rows', async () => {
  const body = { org: 'nobody', date_range: ['2026-03-01', '2026-03-31'], metrics: ['users'] }
  for (const more of [{}, { compare: 'previous_period', interval: 'day' }]) {
    const sent = await send('POST', '/v1/analytics/projects', { body: { ...body, ...more } })
    expect([sent.status, sent.body]).toMatchObject([
      200,
      { data: [], pagination: { returned: 0, total: 0 } },
    ])
  }
})

test('a query across projects has a row for each that the key may see', async () => {
  for (const [id, users] of [
    ['x1', ['a', 'b']],
    ['x2', ['a']],
  ] as const) {
    await put(id, { ...SHOP, org: 'across' })
    const project = await requireProject(service.store.reader, id)
    await sendEvents(service.store, project, users.map(visit))
  }
  const body = { date_range: ['2026-03-01', '2026-03-31'], metrics: ['users'] }
  const data = [
    { project: 'x1', metrics: { users: 2 } },
    { project: 'x2', metrics: { users: 1 } },
  ]
  const named = await send('POST', '/v1/analytics/projects', {
    body: { ...body, projects: ['x2', 'x1'] },
  })
  expect(named.body).toMatchObject({ data, pagination: { total: 2 } })
  const key = await service.issue('across', ['analytics:read'])
  const own = await send('POST', '/v1/analytics/projects', { key, body })
  expect(own.body).toMatchObject({ data })
  await put('hidden', { ...SHOP, org: 'others' })
  const other = { key, body: { ...body, projects: ['x1', 'hidden'] } }
  expect(codeOf(await send('POST', '/v1/analytics/projects', other))).toEqual([404, 'NOT_FOUND'])
  const wrong = { key, body: { ...body, order_by: [['pageviews', 'desc']] } }
  expect(codeOf(await send('POST', '/v1/analytics/projects', wrong))).toEqual([
    400,
    'VALIDATION_ERROR',
    'order_by.0.0',
  ])
})
