/** The log has the client, the request and the outcome, and no secrets. */
import { expect, test } from '@jest/globals'
import { ApiError } from '../../../src/contract/errors.js'
import { createLogger } from '../../../src/lib/log.js'
import { KEY, startApp } from './harness.js'

const SECRET = 'do-not-log-me'

interface Line {
  readonly requestId?: string
  readonly ms?: number
  readonly time?: string
  readonly msg?: string
}

function parseLines(log: string): readonly Line[] {
  return log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

/** The lines of requests: those of plans are left out. */
const parseRequests = (log: string): readonly Line[] =>
  parseLines(log).filter(({ msg }) => msg !== 'planned')

test('a request is one line', async () => {
  const app = await startApp()
  await app.get('/v1/project', { headers: { 'X-Request-Id': 'request-1' } })
  await app.stop()
  const [line, ...others] = parseLines(app.log())
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

test('the line of a failed request has the code of its error', async () => {
  const app = await startApp()
  await app.ask({ date_range: 'never' })
  await app.stop()
  expect(parseLines(app.log())).toMatchObject([{ status: 400, code: 'VALIDATION_ERROR' }])
})

test('an unknown path is not logged, as anyone can send it', async () => {
  const app = await startApp()
  await app.get(`/v1/${SECRET}`)
  await app.stop()
  expect(parseLines(app.log())).toMatchObject([{ method: 'GET', status: 404 }])
  expect(app.log()).not.toContain(SECRET)
})

test('an error is logged with its causes, up to a depth', async () => {
  const cause = Object.assign(new Error('socket closed', { cause: new Error('reset') }), {
    code: 'ECONNRESET',
    request: { headers: { authorization: SECRET } },
  })
  const app = await startApp({
    readRows: () => Promise.reject(new ApiError('SERVICE_UNAVAILABLE', 'Later.', { cause })),
  })
  await app.ask()
  await app.stop()
  expect(parseRequests(app.log())).toMatchObject([
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

test('at debug level the plan of a query is logged, with the id of its request', async () => {
  const app = await startApp()
  const date_range = ['2026-01-31', '2026-03-01']
  const body = { date_range, metrics: ['pageviews'], group_by: ['country'] }
  await app.ask(body, { headers: { 'X-Request-Id': 'request-1' } })
  await app.stop()
  const [line, ...others] = parseLines(app.log())
  expect(others).toMatchObject([{ requestId: 'request-1', status: 200 }])
  const period = { from: '2026-01-31T00:00:00Z', to: '2026-03-01T23:59:59Z' }
  const measures = ['pageviews']
  const reason = 'it does not count by country'
  expect({ ...line, time: '' }).toEqual({
    level: 'debug',
    time: '',
    requestId: 'request-1',
    plan: {
      period,
      reads: [
        {
          ...{ relation: 'sessions_daily', dimension: 'country', measures },
          ...{ periods: [period], filteredBy: null },
        },
      ],
      rejected: [
        {
          ...{ relation: 'sessions_monthly', measures },
          reason: 'other relations are estimated to take less time',
        },
        { relation: 'pageviews_monthly', measures, reason },
        { relation: 'events_monthly', measures, reason },
      ],
      userCounting: 'all',
      considered: [
        'sessions_daily',
        'sessions_monthly, sessions_daily',
        'sessions_monthly, events',
        'events',
      ].map((name, i) => ({ name, ms: expect.any(Number), isChosen: i === 0 })),
    },
    msg: 'planned',
  })
})

test('at higher levels no plan is logged', async () => {
  const lines: string[] = []
  const logger = createLogger('info', { write: (line) => void lines.push(line) })
  const app = await startApp({ logger })
  await app.ask()
  await app.stop()
  expect(lines.map((line) => JSON.parse(line) as Line)).toMatchObject([{ status: 200 }])
})

test('the logged plan has no property names and no values', async () => {
  const app = await startApp()
  const property = `a and ${SECRET}\nevent:prop:${SECRET}`
  const properties = [{ property, operator: 'eq', value: SECRET }]
  const filters = [{ type: 'event', properties }]
  const group_by = ['event:prop:plan']
  await app.ask({ date_range: '7days', metrics: ['pageviews'], filters, group_by })
  await app.ask({ date_range: '7days', metrics: ['pageviews'], filters })
  await app.stop()
  expect(app.log()).toContain('"reason":"no rollup combines event:prop:…"')
  expect(app.log()).toContain('"dimension":"event:prop:…"')
  expect(app.log()).not.toContain(SECRET)
})

test('no header, parameter or body is logged, whatever the outcome', async () => {
  const app = await startApp({ readRows: () => Promise.reject(new Error('failed')) })
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
  expect(parseRequests(app.log())).toHaveLength(8)
  expect(app.log()).not.toContain(SECRET)
  expect(app.log()).not.toContain(KEY)
})
