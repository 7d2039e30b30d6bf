/** Paths are exact, methods are known, and every response has the same headers. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { OPERATIONS } from '../../../src/analytics/operations/list.js'
import { KEY, PROJECT, startApp, type RunningApp } from './harness.js'
import { exchange } from './raw.js'

let app: RunningApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE']

/** The methods of each path; all others are refused, with exactly these in Allow. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  '/v1/project': ['GET', 'HEAD'],
  ...Object.fromEntries(OPERATIONS.map(({ path }) => [path, ['POST']])),
  '/mcp': ['POST'],
  '/livez': ['GET', 'HEAD'],
  '/readyz': ['GET', 'HEAD'],
  '/docs': ['GET', 'HEAD'],
  '/docs/reference': ['GET', 'HEAD'],
  '/docs/limits': ['GET', 'HEAD'],
  '/docs/limits.md': ['GET', 'HEAD'],
  '/llms.txt': ['GET', 'HEAD'],
  '/docs/swagger-ui.css': ['GET', 'HEAD'],
  '/openapi.json': ['GET', 'HEAD'],
  '/openapi.yaml': ['GET', 'HEAD'],
  '/': ['GET', 'HEAD'],
}

const UNKNOWN = [
  '/v1',
  '/v1/',
  '/v2/project',
  '/v1/project/',
  '/V1/project',
  '/v1/Project',
  '/v1//project',
  '//v1/project',
  '/v1/./project',
  '/v1/../v1/project',
  '/v1/%70roject',
  '/v1%2fproject',
  '/v1/project%00',
  '/v1/project%',
  '/v1/project%zz',
  '/v1/project;a=1',
  '/v1/project.json',
  '/v1/analytics',
  '/v1/analytics/query/',
  '/livez/',
  '/LIVEZ',
  '/docs/',
  '/docs/package.json',
  '/docs/..%2fpackage.json',
  '/docs/%zz',
  '/favicon.ico',
  '/.env',
  `/v1/${'x'.repeat(8_000)}`,
]

async function send(method: string, path: string) {
  const [answer] = await exchange(
    app.port,
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  )
  return answer!
}

describe.each(METHODS)('%s', (method) => {
  test.each(UNKNOWN)('%s: NOT_FOUND, without a key', async (path) => {
    const { status, body } = await send(method, path)
    expect(status).toBe(404)
    const code = body === '' ? '' : (JSON.parse(body) as { error: { code: string } }).error.code
    expect(code).toBe(method === 'HEAD' ? '' : 'NOT_FOUND')
  })

  test.each(Object.entries(PATHS))(
    '%s has %j; another is METHOD_NOT_ALLOWED',
    async (path, has) => {
      const { status, headers } = await send(method, path)
      if (has.includes(method)) expect(status).not.toBe(405)
      else expect([status, headers.get('allow')]).toEqual([405, has.join(', ')])
    },
  )
})

test('HEAD gives the response of GET without its body', async () => {
  const head = await app.get('/v1/project', { method: 'HEAD' })
  const get = await app.get('/v1/project')
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
  expect(await get.json()).toEqual({ project: PROJECT })
})

test('/ redirects to the documentation', async () => {
  const response = await app.get('/')
  expect([response.status, response.headers.get('location')]).toEqual([302, '/docs'])
})

test.each(['/v1/project', '/v1/nothing', '/livez', '/readyz', '/openapi.json', '/docs', '/'])(
  '%s tells nothing of the server, and its type is not guessed',
  async (path) => {
    const { headers } = await app.get(path)
    expect(headers.get('x-powered-by')).toBeNull()
    expect(headers.get('server')).toBeNull()
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-request-id')).toMatch(/^[\w-]{8,64}$/)
    expect(headers.get('cache-control')).toMatch(/^no-(store|cache)$/)
  },
)

test('responses about a project must not be cached, and have no ETag', async () => {
  const { headers } = await app.get('/v1/project')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('etag')).toBeNull()
})

describe('X-Request-Id', () => {
  const given = (id: string): Promise<string | null> =>
    app
      .get('/livez', { headers: { 'X-Request-Id': id } })
      .then(({ headers }) => headers.get('x-request-id'))

  test.each(['12345678', 'a-b_C'.repeat(3), 'x'.repeat(64)])('%s is used as the id', async (id) => {
    expect(await given(id)).toBe(id)
  })

  test.each(['1234567', 'x'.repeat(65), 'with space', '<script>x', 'ümlautümlaut', '../../etc/x'])(
    '%s is replaced',
    async (id) => {
      const answered = await given(id)
      expect(answered).not.toBe(id)
      expect(answered).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  test('two headers are both ignored', async () => {
    const line = 'X-Request-Id: 12345678\r\n'
    const [answer] = await exchange(
      app.port,
      `GET /livez HTTP/1.1\r\nHost: a\r\n${line}${line}\r\n`,
    )
    expect(answer?.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('the Authorization header', () => {
  const status = async (lines: string): Promise<number> => {
    const [answer] = await exchange(
      app.port,
      `GET /v1/project HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`,
    )
    return answer!.status
  }
  const bearer = `Authorization: Bearer ${KEY}\r\n`

  test.each([
    ['one header', bearer, 200],
    ['its name in lower case', bearer.replace('Auth', 'auth'), 200],
    ['spaces around the value', `Authorization:   Bearer ${KEY}  \r\n`, 200],
    ['none', '', 401],
    ['an empty one', 'Authorization:\r\n', 401],
    ['another key', `Authorization: Bearer ${KEY}x\r\n`, 401],
    ['a second one that is good', `Authorization: Bearer x\r\n${bearer}`, 401],
    ['a second one that is not', `${bearer}Authorization: Bearer x\r\n`, 401],
    ['the same twice', bearer + bearer, 401],
    ['two keys in a list', `Authorization: Bearer ${KEY}, Bearer ${KEY}\r\n`, 401],
    ['10 kB', `Authorization: Bearer ${'x'.repeat(10_000)}\r\n`, 401],
    ['bytes above ASCII', 'Authorization: Bearer \xff\xfe\r\n', 401],
    ['a control character', `Authorization: Bearer \x07${KEY}\r\n`, 400],
    ['a line break', `Authorization: Bearer\r\n ${KEY}\r\n`, 400],
    ['the key as a parameter', 'X-Api-Key: x\r\n', 401],
    ['a proxy header', `Proxy-${bearer}`, 401],
  ])('%s', async (_why, lines, want) => {
    expect(await status(lines)).toBe(want)
  })
})
