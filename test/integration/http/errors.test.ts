/** Every error code as a client gets it, and which of several errors is reported. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { ErrorCode } from '../../../src/contract/api.js'
import { ApiError, ERROR_STATUS } from '../../../src/contract/errors.js'
import { outcome, QUESTION, startApp, type RunningApp } from './harness.js'

let failure: unknown
let app: RunningApp
beforeAll(async () => {
  app = await startApp({
    readRows: () => (failure === undefined ? Promise.resolve([]) : throws(failure)),
    firstEventAt: () => throws(new TypeError('connect ECONNREFUSED 10.0.0.3:8123 SELECT secret')),
    rateLimit: 10_000,
  })
})
afterAll(() => app.stop())

function throws(error: unknown): Promise<never> {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
  return Promise.reject(error)
}

const post = (path: string, body: string, type = 'application/json'): Promise<Response> =>
  app.get(path, { method: 'POST', body, headers: { 'Content-Type': type } })

test.each<{ code: ErrorCode; why: string; send: () => Promise<Response> }>([
  { code: 'VALIDATION_ERROR', why: 'a body that is not JSON', send: () => app.ask('{') },
  { code: 'VALIDATION_ERROR', why: 'a body that breaks the contract', send: () => app.ask({}) },
  { code: 'VALIDATION_ERROR', why: 'an unknown parameter', send: () => app.get('/v1/project?a=1') },
  { code: 'UNAUTHORIZED', why: 'no key', send: () => fetch(`${app.url}/v1/project`) },
  { code: 'NOT_FOUND', why: 'an unknown path', send: () => app.get('/v1/nothing') },
  { code: 'METHOD_NOT_ALLOWED', why: 'POST', send: () => post('/v1/project', '{}') },
  {
    code: 'PAYLOAD_TOO_LARGE',
    why: 'a body of 65 kB',
    send: () => app.ask({ ...QUESTION, filters: ['x'.repeat(65_536)] }),
  },
  {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    why: 'a form',
    send: () => post('/v1/analytics/query', 'a=1', 'application/x-www-form-urlencoded'),
  },
  { code: 'INTERNAL_ERROR', why: 'a bug', send: () => app.get('/v1/project') },
])('$code: $why', async ({ code, send }) => {
  expect(await outcome(await send())).toEqual({ status: ERROR_STATUS[code], code })
})

test('VALIDATION_ERROR: a query in invalid UTF-8', async () => {
  const body = Buffer.concat([Buffer.from('{"date_range":"'), Buffer.of(0xff), Buffer.from('"}')])
  const response = await app.ask('', { body })
  expect([response.status, await response.json()]).toEqual([
    400,
    {
      error: {
        code: 'VALIDATION_ERROR',
        message: 'The request is not valid: body is not valid UTF-8.',
        details: [{ field: 'body', message: 'is not valid UTF-8' }],
        docs: '/docs/errors#validation_error',
      },
    },
  ])
})

test.each<ErrorCode>([
  'PLAN_LIMIT_EXCEEDED',
  'QUERY_TOO_EXPENSIVE',
  'QUERY_TIMEOUT',
  'SERVICE_UNAVAILABLE',
])('%s is passed on from the use case, with its message and headers', async (code) => {
  failure = new ApiError(code, 'In so many words.', {
    headers: { 'Retry-After': '1' },
    cause: new Error('of no concern to the caller'),
  })
  const response = await app.ask()
  failure = undefined
  expect(response.status).toBe(ERROR_STATUS[code])
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await response.json()).toEqual({
    error: { code, message: 'In so many words.', docs: `/docs/errors#${code.toLowerCase()}` },
  })
})

test('INTERNAL_ERROR has no details of its cause', async () => {
  const response = await app.get('/v1/project')
  expect(await response.json()).toEqual({
    error: {
      code: 'INTERNAL_ERROR',
      message: 'Something went wrong.',
      docs: '/docs/errors#internal_error',
    },
  })
  expect(app.log()).toContain('connect ECONNREFUSED 10.0.0.3:8123')
})

test('INTERNAL_ERROR: a response that breaks the contract is not sent', async () => {
  const broken = await startApp({
    readRows: () => Promise.resolve([{ group_key: '', metric_users: 'of another project' }]),
  })
  const response = await broken.ask()
  expect(await outcome(response)).toEqual({ status: 500, code: 'INTERNAL_ERROR' })
  await broken.stop()
})

test.each<{ why: string; path: string; init: RequestInit; code: ErrorCode }>([
  { why: 'path before key', path: '/v1/nothing', init: {}, code: 'NOT_FOUND' },
  { why: 'method before key', path: '/v1/analytics/query', init: {}, code: 'METHOD_NOT_ALLOWED' },
  {
    why: 'key before content type',
    path: '/v1/analytics/query',
    init: { method: 'POST', body: 'x', headers: { 'Content-Type': 'text/plain' } },
    code: 'UNAUTHORIZED',
  },
  {
    why: 'key before size',
    path: '/v1/analytics/query',
    init: { method: 'POST', body: 'x'.repeat(100_000) },
    code: 'UNAUTHORIZED',
  },
  {
    why: 'key before body',
    path: '/v1/analytics/query',
    init: { method: 'POST', body: '{', headers: { 'Content-Type': 'application/json' } },
    code: 'UNAUTHORIZED',
  },
  { why: 'key before parameters', path: '/v1/project?a=1', init: {}, code: 'UNAUTHORIZED' },
])('without a key: $why: $code', async ({ path, init, code }) => {
  expect((await outcome(await fetch(app.url + path, init))).code).toBe(code)
})

test('UNAUTHORIZED names the scheme', async () => {
  const response = await fetch(`${app.url}/v1/project`)
  expect(response.headers.get('www-authenticate')).toBe('Bearer')
})
