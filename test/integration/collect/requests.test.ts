/** Requests to the collector: tokens, bodies, content types, sizes, CORS, and the client's address. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import { ApiError } from '../../../src/contract/errors.js'
import { NOW, PROJECT, startApp, type RunningApp } from '../http/harness.js'
import { exchange } from '../http/raw.js'

let app: RunningApp
let proxied: RunningApp
let startOfLog = 0
beforeAll(async () => {
  app = await startApp()
  proxied = await startApp({ trustedProxies: 2 })
})
afterAll(() => Promise.all([app.stop(), proxied.stop()]))
beforeEach(() => {
  startOfLog = app.log().length
})

const { token } = PROJECT
const NO_TOKEN = { Authorization: '' }

/** The events that were collected last, parsed from their lines, without generated ids. */
const collected = ({ collected } = app): readonly unknown[] =>
  (collected.at(-1)?.lines ?? []).map((line) => {
    const { event_id, ...event } = JSON.parse(line) as { readonly event_id: unknown }
    expect(event_id).toMatch(/^[0-9a-f-]{36}$/)
    return event
  })

/** Returns the status of a response, with the code of an error. */
async function outcome(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error?: { code: string } }
  return [response.status, ...(error === undefined ? [] : [error.code])].join(' ')
}

/** Sends a request without the headers that fetch adds. */
async function sendRaw(headers: readonly string[], body: string, { port } = app) {
  const lines = [
    'POST /v1/events HTTP/1.1',
    'Host: a',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ]
  const [answer] = await exchange(port, `${lines.join('\r\n')}\r\n\r\n${body}`)
  return answer!
}

test('202 has the number of accepted events, once they are written', async () => {
  const response = await app.collect([{ name: 'a' }, { name: 'b' }])
  expect([response.status, await response.json()]).toEqual([202, { accepted: 2 }])
  expect(app.collected.at(-1)).toMatchObject({ projectId: PROJECT.id, receivedAt: NOW })
})

describe('202 says which events are of bots', () => {
  const CURL = 'curl/8.14.1'
  const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const auth = `Authorization: Bearer ${token}`
  const missing = (field: string) => ({
    field,
    message:
      "is missing, and the User-Agent of the request is a bot's, so the event is not counted; " +
      'send user_id, or the ip and user_agent of the user',
  })
  const origin = 'Origin: https://shop.example'

  test.each<[why: string, agent: string, event: object, warnings: readonly object[]]>([
    ...[
      CURL,
      'node',
      'undici',
      'node-fetch/1.0',
      'axios/1.12.2',
      'got (https://github.com/sindresorhus/got)',
      'python-httpx/0.28.1',
      'python-requests/2.32.5',
      'Python-urllib/3.13',
      'Python/3.13 aiohttp/3.13.0',
      'Go-http-client/1.1',
      'Java-http-client/21.0.8',
      'okhttp/5.1.0',
      'Ruby',
      'GuzzleHttp/7',
      'Wget/1.25.0',
      'PostmanRuntime/7.46.1',
    ].map(
      (agent) =>
        [agent, agent, { name: 'x' }, [missing('user_agent')]] as const satisfies unknown[],
    ),
    ['an empty user is none', CURL, { user_id: '', ip: null }, [missing('user_agent')]],
    ['a bot that the event names', BROWSER, { user_agent: 'Googlebot/2.1' }, []],
    ['a bot that the event names beside a user', CURL, { user_id: 'u', user_agent: CURL }, []],
    ['what logs write for none', CURL, { user_agent: '-' }, []],
    ['beyond what is remembered', BROWSER, { user_agent: CURL.padEnd(600, ' x') }, []],
  ])('%s', async (_why, agent, event, warnings) => {
    // The second answer comes from memory.
    for (let i = 0; i < 2; i += 1) {
      const { status, headers, body } = await sendRaw(
        [auth, `User-Agent: ${agent}`],
        JSON.stringify(event),
      )
      expect([status, headers.get('tally-excluded'), JSON.parse(body)]).toEqual([
        202,
        'bots=1',
        { accepted: 1, excluded: { bots: 1 }, ...(warnings.length === 0 ? {} : { warnings }) },
      ])
    }
  })

  test.each<[why: string, headers: readonly string[], event: object]>([
    ['a browser', [`User-Agent: ${BROWSER}`], {}],
    ['a page', [`User-Agent: ${BROWSER}`, origin], {}],
    ['a program that names its user', [`User-Agent: ${CURL}`], { user_id: 'u' }],
    ['or the address', [`User-Agent: ${CURL}`], { ip: '203.0.113.7' }],
    ['or the agent', [`User-Agent: ${CURL}`], { user_agent: BROWSER }],
    ['no agent', [], {}],
  ])('and nothing else: %s', async (_why, headers, event) => {
    const response = await sendRaw([auth, ...headers], JSON.stringify(event))
    expect([response.status, response.headers.get('tally-excluded'), response.body]).toEqual([
      202,
      undefined,
      '{"accepted":1}',
    ])
  })

  test('a page of a bot gets no warning: it can send nothing else', async () => {
    const { body } = await sendRaw([auth, origin, 'User-Agent: HeadlessChrome/140.0'], '{}')
    expect(JSON.parse(body)).toEqual({ accepted: 1, excluded: { bots: 1 } })
  })

  test.each([
    ['an array', (events: readonly object[]) => events, ''],
    ['a list', (events: readonly object[]) => ({ events }), 'events.'],
  ])('%s: events are named by their positions, at most 100 of them', async (_form, wrap, path) => {
    const headers = [auth, `User-Agent: ${CURL}`]
    const few = await sendRaw(headers, JSON.stringify(wrap([{}, { user_id: 'u' }, {}])))
    expect([few.headers.get('tally-excluded'), JSON.parse(few.body)]).toEqual([
      'bots=2',
      {
        accepted: 3,
        excluded: { bots: 2 },
        warnings: [missing(`${path}0.user_agent`), missing(`${path}2.user_agent`)],
      },
    ])
    const many = await sendRaw(headers, JSON.stringify(wrap(Array(1_000).fill({}))))
    const { warnings, ...rest } = JSON.parse(many.body) as { readonly warnings: unknown[] }
    expect([rest, warnings.length]).toEqual([{ accepted: 1_000, excluded: { bots: 1_000 } }, 100])
  })

  test("Node's own fetch is told so", async () => {
    const response = await fetch(`${app.url}/v1/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: '{"name":"signup"}',
    })
    expect([response.headers.get('tally-excluded'), await response.json()]).toEqual([
      'bots=1',
      { accepted: 1, excluded: { bots: 1 }, warnings: [missing('user_agent')] },
    ])
  })
})

describe('tokens', () => {
  const event = { name: 'x' }
  const other = 'tallypub_of-another-project'
  test.each<[why: string, header: string | undefined, body: unknown, want: string]>([
    ['in the header', `Bearer ${token}`, event, '202'],
    ['in the header, the scheme in lower case', `bearer ${token}`, event, '202'],
    ['in the body of one event', undefined, { ...event, token }, '202'],
    ['beside a list', undefined, { token, events: [event] }, '202'],
    ['in both', `Bearer ${token}`, { ...event, token }, '202'],
    ['none', undefined, event, '401 UNAUTHORIZED'],
    ['none, with an array', undefined, [event], '401 UNAUTHORIZED'],
    ['none that is known', `Bearer ${other}`, event, '401 UNAUTHORIZED'],
    ['none that is known, in the body', undefined, { ...event, token: other }, '401 UNAUTHORIZED'],
    ['another one in the body', `Bearer ${token}`, { ...event, token: other }, '401 UNAUTHORIZED'],
    ['null in the body', `Bearer ${token}`, { ...event, token: null }, '401 UNAUTHORIZED'],
    ['a good one in the body alone', `Bearer ${other}`, { ...event, token }, '401 UNAUTHORIZED'],
    ['one that is no text', undefined, { ...event, token: [token] }, '401 UNAUTHORIZED'],
    ['an empty header', '', { ...event, token }, '401 UNAUTHORIZED'],
    ['another scheme', `Basic ${token}`, event, '401 UNAUTHORIZED'],
    ['the token alone', token, event, '401 UNAUTHORIZED'],
    ['two in one header', `Bearer ${token}, Bearer ${token}`, event, '401 UNAUTHORIZED'],
    ['inside an event of a list', undefined, { events: [{ ...event, token }] }, '401 UNAUTHORIZED'],
  ])('%s', async (_why, header, body, want) => {
    const lines = header === undefined ? [] : [`Authorization: ${header}`]
    const { status, headers, body: text } = await sendRaw(lines, JSON.stringify(body))
    const { error } = JSON.parse(text) as { error?: { code: string } }
    expect([status, ...(error === undefined ? [] : [error.code])].join(' ')).toBe(want)
    expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : undefined)
  })

  test('two headers', async () => {
    const header = `Authorization: Bearer ${token}`
    expect((await sendRaw([header, header], '{}')).status).toBe(401)
  })

  test('an invalid token in the header is reported before the body is read', async () => {
    const headers = { Authorization: 'Bearer x' }
    expect(await outcome(await app.collect('{', { headers }))).toBe('401 UNAUTHORIZED')
    const large = await app.collect('x'.repeat(2_000_000), { headers })
    expect(await outcome(large)).toBe('401 UNAUTHORIZED')
  })

  test('a body that is not JSON is reported before a missing token', async () => {
    const response = await sendRaw([], '{')
    expect(response.status).toBe(400)
  })

  test('SERVICE_UNAVAILABLE: a token cannot be checked while the store is down', async () => {
    const down = await startApp({
      findProject: () =>
        Promise.reject(
          new ApiError('SERVICE_UNAVAILABLE', 'Later.', { headers: { 'Retry-After': '1' } }),
        ),
    })
    for (const response of [
      await down.collect({}),
      await down.collect({ token }, { headers: NO_TOKEN }),
    ]) {
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
    }
    await down.stop()
  })

  test('the log has the project and the number of events, and no token', async () => {
    await app.collect({ token, events: [{ name: 'x', ip: '203.0.113.5' }, {}] })
    await app.collect([{ url: 'https://secret.example/' }], {
      headers: { Authorization: 'Bearer x' },
    })
    const lines = app.log().slice(startOfLog).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { method: 'POST', route: '/v1/events', status: 202, projectId: PROJECT.id, events: 2 },
      { method: 'POST', route: '/v1/events', status: 401 },
    ])
    expect(app.log()).not.toContain(token)
    expect(app.log()).not.toContain('203.0.113')
    expect(app.log()).not.toContain('127.0.0.1')
    expect(app.log()).not.toContain('secret.example')
  })
})

test('an event keeps its id; without one it gets a new one', async () => {
  await app.collect([{ event_id: 'mine' }, {}, { event_id: '' }, { event_id: null }])
  const ids = app.collected
    .at(-1)!
    .lines.map((line) => (JSON.parse(line) as { event_id: string }).event_id)
  expect(ids[0]).toBe('mine')
  expect(new Set(ids).size).toBe(4)
})

describe('bodies', () => {
  test.each([
    ['application/json', '202'],
    ['text/plain', '202'],
    ['text/plain;charset=UTF-8', '202'],
    ['Application/JSON; charset="utf-8"', '202'],
    ['text/html', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['application/x-www-form-urlencoded', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['application/json; charset=utf-16', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['text/plain; charset=iso-8859-1', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['application/x-ndjson', '415 UNSUPPORTED_MEDIA_TYPE'],
  ])('Content-Type %s: %s', async (type, want) => {
    expect(await outcome(await app.collect({}, { headers: { 'Content-Type': type } }))).toBe(want)
  })

  test('none at all: 415', async () => {
    const [answer] = await exchange(
      app.port,
      `POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: 2\r\n\r\n{}`,
    )
    expect(answer?.status).toBe(415)
    expect(answer?.body).toContain('with Content-Type: application/json or text/plain.')
  })

  test.each(['gzip', 'br', 'deflate', 'x'])('Content-Encoding %s: 415', async (encoding) => {
    const headers = { 'Content-Encoding': encoding }
    const response = await app.collect('', { headers, body: gzipSync('{}') })
    expect(await outcome(response)).toBe('415 UNSUPPORTED_MEDIA_TYPE')
  })

  test.each([
    [1_048_576, '202'],
    [1_048_577, '413 PAYLOAD_TOO_LARGE'],
    [3_000_000, '413 PAYLOAD_TOO_LARGE'],
  ])('%d bytes: %s', async (bytes, want) => {
    expect(await outcome(await app.collect('{}'.padEnd(bytes)))).toBe(want)
  })

  test('1 MB and a byte in chunks: 413, with its size in words', async () => {
    const stream = new ReadableStream({
      start(controller) {
        for (let left = 1_048_577; left > 0; left -= 65_536) {
          controller.enqueue(Buffer.alloc(Math.min(left, 65_536), ' '))
        }
        controller.close()
      },
    })
    const init = { body: stream, duplex: 'half' } as RequestInit
    const response = await app.collect('', init)
    expect([response.status, await response.json()]).toEqual([
      413,
      {
        error: {
          code: 'PAYLOAD_TOO_LARGE',
          message: 'The request body is larger than 1 MB.',
          docs: '/docs/errors#payload_too_large',
        },
      },
    ])
  })

  test('query parameters are refused', async () => {
    const response = await fetch(`${app.url}/v1/events?a=1`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: '{}',
    })
    expect(await response.json()).toMatchObject({
      error: { details: [{ field: 'a', message: 'is not a known query parameter' }] },
    })
  })
})

describe('CORS', () => {
  const ask = (method: string, path = '/v1/events'): Promise<Response> =>
    fetch(app.url + path, {
      method,
      headers: {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type',
      },
    })

  test('a preflight needs no token and is valid for a day', async () => {
    const { status, headers } = await ask('OPTIONS')
    expect([
      status,
      ...['origin', 'methods', 'headers'].map((name) =>
        headers.get(`access-control-allow-${name}`),
      ),
      headers.get('access-control-max-age'),
    ]).toEqual([204, '*', 'POST', 'Authorization, Content-Type', '86400'])
  })

  test.each(['/v1/analytics/query', '/v1/project', '/livez', '/docs'])(
    'METHOD_NOT_ALLOWED: no other path has OPTIONS: %s',
    async (path) => {
      const response = await ask('OPTIONS', path)
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
      expect(await outcome(response)).toBe('405 METHOD_NOT_ALLOWED')
    },
  )

  test.each<[why: string, send: () => Promise<Response>]>([
    ['202', () => app.collect({})],
    ['400', () => app.collect('{')],
    ['401', () => app.collect({}, { headers: { Authorization: 'Bearer x' } })],
    ['405', () => ask('GET')],
    ['413', () => app.collect(' '.repeat(1_048_577))],
    ['415', () => app.collect('', { headers: { 'Content-Type': 'a/b' } })],
  ])('%s may be read by any page', async (status, send) => {
    const response = await send()
    expect(String(response.status)).toBe(status)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-expose-headers')).toBe(
      'Retry-After, Tally-Excluded, X-Request-Id',
    )
  })

  test('405 lists the allowed methods', async () => {
    const response = await ask('DELETE')
    expect(response.headers.get('allow')).toBe('POST, OPTIONS')
  })
})

describe('the client', () => {
  const AGENT = 'Mozilla/5.0 (test)'
  const auth = `Authorization: Bearer ${token}`
  const agent = `User-Agent: ${AGENT}`
  const origin = 'Origin: https://shop.example'
  const language = 'Accept-Language: pt-br,pt;q=0.9,en;q=0.8'
  const HERE = '127.0.0.1'
  const ofRequest = { ip: HERE, user_agent: AGENT }

  test.each<[why: string, headers: readonly string[], event: object, want: object]>([
    ['a server that names nobody is the user', [agent], {}, ofRequest],
    ['what is empty is not named', [agent], { ip: '', user_id: null, user_agent: '' }, ofRequest],
    ['a server names its user', [agent], { user_id: 'u' }, {}],
    ['or the address of its user', [agent], { ip: '1.2.3.4' }, {}],
    ['or the agent of its user', [agent], { user_agent: 'x' }, {}],
    ['a page speaks for its user', [agent, origin], {}, ofRequest],
    ['a page whose user is known', [agent, origin], { user_id: 'u' }, ofRequest],
    ['a page that names the agent', [agent, origin], { user_agent: 'x' }, { ip: HERE }],
    ['a page that names the address', [agent, origin], { ip: '::1' }, { user_agent: AGENT }],
    ['a page in a language', [origin, language], {}, { ip: HERE, language: 'pt-BR' }],
    ['a page that names the language', [origin, language], { language: 'de' }, { ip: HERE }],
    ['a page of no language', [origin, 'Accept-Language: *'], {}, { ip: HERE }],
    ['a server in a language', [language], {}, { ip: HERE }],
    ['a request without an agent', [], {}, { ip: HERE }],
    ['an empty agent', ['User-Agent:'], {}, { ip: HERE }],
    ['a page of no origin', [agent, 'Origin: null'], { user_id: 'u' }, ofRequest],
    ['a proxy that nobody trusts', ['X-Forwarded-For: 1.2.3.4'], {}, { ip: HERE }],
  ])('%s', async (_why, headers, event, want) => {
    expect((await sendRaw([auth, ...headers], JSON.stringify(event))).status).toBe(202)
    expect(collected()).toEqual([{ ...event, ...want }])
  })

  test('a user agent of 15 kB is truncated', async () => {
    await sendRaw([auth, `User-Agent: ${'x'.repeat(15_000)}`], '{}')
    expect(collected()).toEqual([{ ip: HERE, user_agent: 'x'.repeat(1_024) }])
  })

  test('each event of a request is handled separately', async () => {
    await sendRaw([auth], '[{"user_id":"u"},{},{"ip":"1.2.3.4"}]')
    expect(collected()).toEqual([{ user_id: 'u' }, { ip: HERE }, { ip: '1.2.3.4' }])
  })

  test.each<[forwarded: string, ip: string | undefined]>([
    ['203.0.113.1, 10.0.0.1', '203.0.113.1'],
    ['9.9.9.9, 203.0.113.1, 10.0.0.1', '203.0.113.1'],
    ['203.0.113.1', '203.0.113.1'],
    ['', HERE],
    ['2001:db8::1, 10.0.0.1', '2001:db8::1'],
    ['[2001:db8::1]:4711, 10.0.0.1', '2001:db8::1'],
    ['203.0.113.1:4711, 10.0.0.1', '203.0.113.1'],
    ['::ffff:203.0.113.1, 10.0.0.1', '203.0.113.1'],
    ['fe80::1%eth0, 10.0.0.1', 'fe80::1'],
    ['unknown, 10.0.0.1', undefined],
    ['_hidden, 10.0.0.1', undefined],
    ['1.2.3.4.5, 10.0.0.1', undefined],
  ])('behind two proxies: "%s" is %s', async (forwarded, ip) => {
    const lines = [auth, `X-Forwarded-For: ${forwarded}`]
    expect((await sendRaw(lines, '{}', proxied)).status).toBe(202)
    expect(collected(proxied)).toEqual([ip === undefined ? {} : { ip }])
  })
})

test('the log warns once if a proxy passes requests on and none is trusted', async () => {
  const warned = async (trustedProxies: number) => {
    const one = await startApp({ trustedProxies })
    for (const address of ['203.0.113.1', '203.0.113.2']) {
      await one.collect({}, { headers: { 'X-Forwarded-For': address } })
    }
    await one.stop()
    return one
      .log()
      .split('\n')
      .filter((line) => line.includes('TRUSTED_PROXIES')).length
  }
  expect([await warned(0), await warned(1)]).toEqual([1, 0])
})

describe('roles', () => {
  const statuses = async (role: RunningApp): Promise<readonly number[]> =>
    Promise.all(
      [
        role.collect({}),
        role.ask(),
        role.get('/v1/project'),
        role.get('/tally.js'),
        role.get('/livez'),
        role.get('/readyz'),
        role.get('/docs'),
        role.get('/docs/collector'),
        role.get('/collector.json'),
      ].map(async (answer) => (await answer).status),
    )

  test.each<[role: string, given: object, want: readonly number[]]>([
    ['all', {}, [202, 200, 200, 200, 200, 200, 200, 200, 200]],
    ['api', { collector: undefined }, [404, 200, 200, 404, 200, 200, 200, 200, 200]],
    ['collector', { api: undefined }, [202, 404, 404, 200, 200, 200, 200, 200, 200]],
  ])('%s', async (_role, given, want) => {
    const role = await startApp(given)
    expect(await statuses(role)).toEqual(want)
    await role.stop()
  })
})

test.each<[role: string, given: object, want: readonly number[]]>([
  ['all', {}, [200, 200, 405]],
  ['collector', { api: undefined }, [200, 200, 405]],
  ['api', { collector: undefined }, [404, 404, 404]],
])('the script has a second name in the role %s', async (_role, given, want) => {
  const named = await startApp({ scriptName: 'hello.js', ...given })
  const responses = [
    await named.get('/hello.js'),
    await named.get('/tally.js'),
    await named.get('/hello.js', { method: 'POST' }),
  ]
  expect(responses.map(({ status }) => status)).toEqual(want)
  await named.stop()
})
