/** The paths of public dashboards: which there are, which methods they have, and that no other spelling reaches a project. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ENDPOINTS } from '../../../../src/http/query/endpoints.js'
import { createQueryQueue } from '../../../../src/http/query/queue/query-queue.js'
import type { ShareDependencies } from '../../../../src/http/share/read-share.js'
import { operations } from '../../../contract/document.js'
import { ANSWER, CALLER, PROJECT, QUESTION, startApp, type RunningApp } from '../harness.js'
import { exchange } from '../raw.js'

const NAMES = [PROJECT.id, PROJECT.token]
const READER = {
  ...CALLER,
  project: { ...CALLER.project, embedOrigins: ['https://a.example', 'https://b.example'] },
  principal: { keyId: `public:${PROJECT.id}`, projectId: PROJECT.id },
  leftMs: 4_000,
}
const shares: ShareDependencies = {
  find: (name) => Promise.resolve(NAMES.includes(name) ? READER : undefined),
  recall: () => undefined,
  limits: { perDashboard: 0, perAddress: 0 },
  streams: createQueryQueue({ perKey: 1, inAll: 2, waiting: 0, timeoutMs: 10_000 }),
}

let app: RunningApp
beforeAll(async () => {
  app = await startApp({ shares })
})
afterAll(() => app.stop())

async function send(method: string, path: string, body = '', headers = '') {
  const type = body === '' ? '' : 'Content-Type: application/json\r\n'
  const [answer] = await exchange(
    app.port,
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${type}${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  return answer!
}

const ask = (path: string, headers?: string) =>
  send('POST', path, JSON.stringify(QUESTION), headers)

const QUERY = `/share/${PROJECT.id}/v1/analytics/query`
const NOT_FOUND = {
  error: { code: 'NOT_FOUND', message: expect.any(String), docs: '/docs/errors#not_found' },
}

/** Operations are marked in the contract if public dashboards answer them. */
const marked = operations.map(({ path, method, operation }) => ({
  path,
  method: method.toUpperCase(),
  isShared: operation['x-public-dashboard'] === true,
}))

test('the contract marks the operations of public dashboards', () => {
  const paths = ENDPOINTS.map(({ path }) => path).filter((path) =>
    path.startsWith('/v1/analytics/'),
  )
  expect(
    marked
      .filter(({ isShared }) => isShared)
      .map(({ path }) => path)
      .sort(),
  ).toEqual([...paths, '/v1/analytics/batch'].sort())
})

describe.each(marked)('$method $path below a dashboard', ({ path, method, isShared }) => {
  test.each([
    [PROJECT.id, isShared ? 400 : 404],
    [PROJECT.token, isShared ? 400 : 404],
    ['another', 404],
    [`${PROJECT.token}x`, 404],
  ])('of %s: %i for an empty body', async (name, want) => {
    const { status } = await send(method, `/share/${name}${path}`, method === 'GET' ? '' : '{}')
    expect(status).toBe(want)
  })
})

describe.each(marked.filter(({ isShared }) => isShared))('$path below a dashboard', ({ path }) => {
  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    '%s gets METHOD_NOT_ALLOWED, whether there is such a project or not',
    async (method) => {
      for (const name of [PROJECT.id, 'another']) {
        const { status, headers } = await send(method, `/share/${name}${path}`)
        expect([status, headers.get('allow')]).toEqual([405, 'POST'])
      }
    },
  )
})

test.each([
  ['without a key', ''],
  ['with a key of whichever project, which is not looked at', 'Authorization: Bearer x\r\n'],
])('a question is answered %s', async (_why, header) => {
  const { status, headers, body } = await ask(QUERY, header)
  expect([status, headers.has('www-authenticate')]).toEqual([200, false])
  expect(JSON.parse(body)).toEqual(ANSWER)
})

test('the query string is that of the operation', async () => {
  const { status, body } = await ask(`${QUERY}?limit=1`)
  const ofKey = await app.get('/v1/analytics/query?limit=1', {
    method: 'POST',
    body: JSON.stringify(QUESTION),
    headers: { 'Content-Type': 'application/json' },
  })
  expect([status, body]).toEqual([400, await ofKey.text()])
})

test.each([
  '/share',
  '/share/',
  '/share//v1/analytics/query',
  `/share/${PROJECT.id}/`,
  `/share/${PROJECT.id}/v1`,
  `/share/${PROJECT.id}/v1/project`,
  `/share/${PROJECT.id}/v1/events/export`,
  `/share/${PROJECT.id}/mcp`,
  `/share/${PROJECT.id}/livez`,
  `/share/${PROJECT.id}/v1/analytics/query/`,
  `/share/${PROJECT.id}/v1//analytics/query`,
  `/share/${PROJECT.id}//v1/analytics/query`,
  `/share/${PROJECT.id}/V1/analytics/query`,
  `/share/${PROJECT.id}/v1/analytics%2fquery`,
  `/share/${PROJECT.id}%2fv1/analytics/query`,
  `/share/${PROJECT.id}/../${PROJECT.id}/v1/analytics/query`,
  `/share/${PROJECT.id}/share/${PROJECT.id}/v1/analytics/query`,
  `/share/another%2f..%2f${PROJECT.id}/v1/analytics/query`,
  `/share/another/../${PROJECT.id}/v1/analytics/query`,
  `/share/./${PROJECT.id}/v1/analytics/query`,
  `/share/%70roject-1/v1/analytics/query`,
  `/share/${PROJECT.id}%00/v1/analytics/query`,
  `/share/${PROJECT.id};a=1/v1/analytics/query`,
  `/share/${PROJECT.id}.json/v1/analytics/query`,
  `/share/${PROJECT.id.toUpperCase()}/v1/analytics/query`,
  `/share/%/v1/analytics/query`,
  `/share/%zz/v1/analytics/query`,
  `/share/%E0%A4%A/v1/analytics/query`,
  `/share/${'x'.repeat(200)}/v1/analytics/query`,
  `/Share/${PROJECT.id}/v1/analytics/query`,
  `//share/${PROJECT.id}/v1/analytics/query`,
  `/x/share/${PROJECT.id}/v1/analytics/query`,
])('%s: NOT_FOUND', async (path) => {
  const { status, body } = await ask(path)
  expect([status, JSON.parse(body)]).toEqual([404, NOT_FOUND])
})

test('a batch answers its questions, and none about the fields of the project', async () => {
  const path = `/share/${PROJECT.id}/v1/analytics/batch`
  const sendBatch = (operation: string) =>
    send('POST', path, JSON.stringify({ queries: [{ id: 'a', operation, body: QUESTION }] }))
  const { status, body } = await sendBatch('query')
  const results = [{ id: 'a', status: 200, body: ANSWER }]
  expect([status, JSON.parse(body)]).toEqual([200, { results }])
  expect((await sendBatch('project')).status).toBe(400)
})

test('the log has the route and the reader, but not the name in the path', async () => {
  await ask(`/share/${PROJECT.token}/v1/analytics/query`)
  await ask('/share/secret-name/v1/analytics/query')
  const lines = app.log()
  expect(lines).toContain('"route":"/share/:project/v1/analytics/query"')
  expect(lines).toContain(`"keyId":"public:${PROJECT.id}"`)
  expect(lines).not.toContain(PROJECT.token)
  expect(lines).not.toContain('secret-name')
})

describe('the page', () => {
  const typeOf = (answer: Awaited<ReturnType<typeof send>>) => answer.headers.get('content-type')
  const HTML = 'text/html; charset=utf-8'

  test.each([PROJECT.id, PROJECT.token])('of %s is the explorer of the project', async (name) => {
    const answer = await send('GET', `/share/${name}?period=7days`)
    expect([answer.status, typeOf(answer)]).toEqual([200, HTML])
    expect(answer.body).toContain(`data-project="${PROJECT.name}"`)
    expect(answer.headers.get('content-security-policy')).not.toContain('unsafe')
    expect(answer.headers.get('content-security-policy')).toMatch(
      /; frame-ancestors https:\/\/a\.example https:\/\/b\.example$/,
    )
    const head = await send('HEAD', `/share/${name}`)
    expect([head.status, head.body]).toEqual([200, ''])
  })

  test('of a project that is not public is an error in words', async () => {
    const answer = await send('GET', '/share/another')
    expect([answer.status, typeOf(answer)]).toEqual([404, HTML])
    expect(answer.body).toContain('<h1>There is no public dashboard at this path.</h1>')
    expect(answer.headers.get('content-security-policy')).toMatch(/; frame-ancestors 'none'$/)
  })

  test('is there for GET alone', async () => {
    const { status, headers } = await send('POST', `/share/${PROJECT.id}`)
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})
