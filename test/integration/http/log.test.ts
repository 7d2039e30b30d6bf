/** The log tells who asked what and how it went, and nothing that is secret. */
import { expect, test } from '@jest/globals'
import { ApiError } from '../../../src/errors.js'
import { KEY, startApp } from './harness.js'

const SECRET = 'do-not-log-me'

interface Line {
  readonly requestId?: string
  readonly ms?: number
  readonly time?: string
}

function linesOf(log: string): readonly Line[] {
  return log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

test('a request is one line', async () => {
  const app = await startApp()
  await app.get('/v1/project', { headers: { 'X-Request-Id': 'request-1' } })
  await app.stop()
  const [line, ...others] = linesOf(app.log())
  expect(others).toEqual([])
  expect(typeof line?.ms).toBe('number')
  expect({ ...line, ms: 0, time: '' }).toEqual({
    level: 'info',
    time: '',
    requestId: 'request-1',
    method: 'GET',
    route: '/v1/project',
    status: 200,
    ms: 0,
    keyId: 'key-1',
    projectId: 'project-1',
    msg: 'request completed',
  })
})

test('an unknown path is not told, as it is the text of a stranger', async () => {
  const app = await startApp()
  await app.get(`/v1/${SECRET}`)
  await app.stop()
  expect(linesOf(app.log())).toMatchObject([{ method: 'GET', status: 404 }])
  expect(app.log()).not.toContain(SECRET)
})

test('a failure is an error with its cause, to the depth of a few causes', async () => {
  const cause = Object.assign(new Error('socket closed', { cause: new Error('reset') }), {
    code: 'ECONNRESET',
    request: { headers: { authorization: SECRET } },
  })
  const app = await startApp({
    query: () => Promise.reject(new ApiError('SERVICE_UNAVAILABLE', 'Later.', { cause })),
  })
  await app.ask()
  await app.stop()
  expect(linesOf(app.log())).toMatchObject([
    {
      level: 'error',
      status: 503,
      err: {
        type: 'Error',
        message: 'socket closed',
        code: 'ECONNRESET',
        cause: { message: 'reset' },
      },
      msg: 'request failed',
    },
  ])
  expect(app.log()).not.toContain(SECRET)
})

test('no header, parameter or body is told, whatever the outcome', async () => {
  const app = await startApp({ query: () => Promise.reject(new Error('failed')) })
  const headers = {
    Cookie: `a=${SECRET}`,
    'X-Api-Key': SECRET,
    'User-Agent': SECRET,
    Referer: SECRET,
  }
  const wrongKey = { Authorization: `Bearer ${SECRET}` }
  const filters = [{ type: 'browser', value: [SECRET], operator: 'oneOf' }]
  await app.get(`/v1/project?token=${SECRET}`, { headers })
  await app.get(`/livez?token=${SECRET}`, { headers })
  await app.get('/v1/project', { headers: { ...headers, ...wrongKey } })
  await app.ask({ date_range: 'today', filters }, { headers })
  await app.ask({ date_range: SECRET, [SECRET]: 1 }, { headers })
  await app.ask(`{"${SECRET}`, { headers })
  await app.ask('x', { headers: { 'Content-Type': SECRET } })
  await app.get('/v1/project', { method: 'DELETE', headers })
  await app.stop()
  expect(linesOf(app.log())).toHaveLength(8)
  expect(app.log()).not.toContain(SECRET)
  expect(app.log()).not.toContain(KEY)
})
