/** Raw requests: whatever the bytes, the response is JSON with an error code of the catalogue. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { KEY, PROJECT, startApp, type RunningApp } from './harness.js'
import { exchange, parseAnswers } from './raw.js'

let app: RunningApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const HOST = 'Host: a\r\n'
const AUTH = `Authorization: Bearer ${KEY}\r\n`
const GET = 'GET /v1/project HTTP/1.1\r\n'
const POST = `POST /v1/analytics/query HTTP/1.1\r\n${HOST}${AUTH}Content-Type: application/json\r\n`
const BODY = '{"date_range":"today"}'
const END = '\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const headers = (count: number): string =>
  Array.from({ length: count }, (_, i) => `X-${i}: ${i}\r\n`).join('')

/** The bytes that are sent, and the status and error code of the response. */
const CORPUS: readonly (readonly [why: string, bytes: string, status: number, code?: string])[] = [
  // Request lines
  ['no HTTP', 'hello\r\n\r\n', 400, 'VALIDATION_ERROR'],
  ['bytes above ASCII', '\xff\xfe\xfd\r\n\r\n', 400, 'VALIDATION_ERROR'],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'VALIDATION_ERROR'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'VALIDATION_ERROR'],
  ['an unknown method', `FOO /v1/project HTTP/1.1\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['a method in lower case', `get /v1/project HTTP/1.1\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['no version', `GET /v1/project\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['version 1.2', `GET /v1/project HTTP/1.2\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['version 3.0', `GET /v1/project HTTP/3.0\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['version x', `GET /v1/project HTTP/x\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['http in lower case', `GET /v1/project http/1.1\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['a space in the path', `GET /v1/ project HTTP/1.1\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['a tab in the path', `GET /v1/\tproject HTTP/1.1\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['NUL in the path', `GET /v1/\0project HTTP/1.1\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['no target', `GET  HTTP/1.1\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['a relative target', `GET v1/project HTTP/1.1\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['a version and more', `GET /v1/project HTTP/1.1 x\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  [
    'a target of 20 kB',
    `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${HOST}${END}`,
    413,
    'PAYLOAD_TOO_LARGE',
  ],
  ['a target of 15 kB', `GET /${'x'.repeat(15_000)} HTTP/1.1\r\n${HOST}${END}`, 404, 'NOT_FOUND'],
  ['an absolute target', `GET http://a/v1/project HTTP/1.1\r\n${HOST}${AUTH}${END}`, 200],
  [
    'an empty absolute target',
    `GET http://a/v1 HTTP/1.1\r\n${HOST}${AUTH}${END}`,
    404,
    'NOT_FOUND',
  ],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${HOST}${END}`, 404, 'NOT_FOUND'],
  ['CONNECT', `CONNECT a:443 HTTP/1.1\r\n${HOST}${END}`, 405, 'METHOD_NOT_ALLOWED'],
  ['TRACE', `TRACE /v1/project HTTP/1.1\r\n${HOST}${END}`, 405, 'METHOD_NOT_ALLOWED'],
  ['empty lines before the request', `\r\n\r\n${GET}${HOST}${AUTH}${END}`, 200],
  // Header lines
  ['line feeds alone', `GET /v1/project HTTP/1.1\nHost: a\n\n`, 400, 'VALIDATION_ERROR'],
  ['carriage returns alone', `GET /v1/project HTTP/1.1\rHost: a\r\r`, 400, 'VALIDATION_ERROR'],
  ['a folded header', `${GET}${HOST}X-A: b\r\n c\r\n${END}`, 400, 'VALIDATION_ERROR'],
  ['a space before the colon', `${GET}${HOST}X-A : b\r\n${END}`, 400, 'VALIDATION_ERROR'],
  ['a space before the name', `${GET} X-A: b\r\n${HOST}${END}`, 400, 'VALIDATION_ERROR'],
  ['a header without a colon', `${GET}${HOST}XA\r\n${END}`, 400, 'VALIDATION_ERROR'],
  ['a header without a name', `${GET}${HOST}: b\r\n${END}`, 400, 'VALIDATION_ERROR'],
  ['NUL in a name', `${GET}${HOST}X\0A: b\r\n${END}`, 400, 'VALIDATION_ERROR'],
  ['NUL in a value', `${GET}${HOST}X-A: b\0c\r\n${END}`, 400, 'VALIDATION_ERROR'],
  ['a control character in a value', `${GET}${HOST}X-A: b\x01\r\n${END}`, 400, 'VALIDATION_ERROR'],
  ['a carriage return in a value', `${GET}${HOST}X-A: b\rc\r\n${END}`, 400, 'VALIDATION_ERROR'],
  ['a name above ASCII', `${GET}${HOST}X-\xe4: b\r\n${END}`, 400, 'VALIDATION_ERROR'],
  ['a value above ASCII', `${GET}${HOST}${AUTH}X-A: \xe4\r\n${END}`, 200],
  [
    'a header of 20 kB',
    `${GET}${HOST}X-A: ${'x'.repeat(20_000)}\r\n${END}`,
    413,
    'PAYLOAD_TOO_LARGE',
  ],
  ['100 headers', `${GET}${HOST}${AUTH}${headers(98)}${END}`, 200],
  ['101 headers', `${GET}${HOST}${AUTH}${headers(99)}${END}`, 400, 'VALIDATION_ERROR'],
  ['1,000 headers', `${GET}${HOST}${headers(1_000)}${AUTH}${END}`, 400, 'VALIDATION_ERROR'],
  ['no Host', `${GET}${AUTH}${END}`, 400, 'VALIDATION_ERROR'],
  ['no Host in HTTP/1.0', `GET /v1/project HTTP/1.0\r\n${AUTH}${END}`, 200],
  ['two Hosts', `${GET}${HOST}${HOST}${AUTH}${END}`, 400, 'VALIDATION_ERROR'],
  ['two keys', `${GET}${HOST}${AUTH}${AUTH}${END}`, 401, 'UNAUTHORIZED'],
  ['an upgrade', `${GET}${HOST}${AUTH}Connection: Upgrade\r\nUpgrade: websocket\r\n${END}`, 200],
  [
    'an upgrade to HTTP/2',
    `${GET}${HOST}${AUTH}Connection: Upgrade\r\nUpgrade: h2c\r\n${END}`,
    200,
  ],
  [
    'an unknown expectation',
    `${POST}Expect: tea\r\nContent-Length: 22\r\n${END}`,
    400,
    'VALIDATION_ERROR',
  ],
  ['100-continue', `${POST}Expect: 100-continue\r\nContent-Length: 22\r\n${END}${BODY}`, 200],
  // Framing of bodies
  ['a body', `${POST}Content-Length: 22\r\n${END}${BODY}`, 200],
  [
    'a body in chunks',
    `${POST}${CHUNKED}${END}${chunk('{"date_range"')}${chunk(':"today"}')}${chunk('')}`,
    200,
  ],
  [
    'length and chunks',
    `${POST}${CHUNKED}Content-Length: 22\r\n${END}${BODY}`,
    400,
    'VALIDATION_ERROR',
  ],
  [
    'two lengths',
    `${POST}Content-Length: 22\r\nContent-Length: 21\r\n${END}${BODY}`,
    400,
    'VALIDATION_ERROR',
  ],
  [
    'one length twice',
    `${POST}Content-Length: 22\r\nContent-Length: 22\r\n${END}${BODY}`,
    400,
    'VALIDATION_ERROR',
  ],
  ['lengths in a list', `${POST}Content-Length: 22, 22\r\n${END}${BODY}`, 400, 'VALIDATION_ERROR'],
  ['a negative length', `${POST}Content-Length: -1\r\n${END}${BODY}`, 400, 'VALIDATION_ERROR'],
  ['a signed length', `${POST}Content-Length: +22\r\n${END}${BODY}`, 400, 'VALIDATION_ERROR'],
  ['a hexadecimal length', `${POST}Content-Length: 0x16\r\n${END}${BODY}`, 400, 'VALIDATION_ERROR'],
  ['an empty length', `${POST}Content-Length: \r\n${END}${BODY}`, 400, 'VALIDATION_ERROR'],
  [
    'a length beyond 64 bits',
    `${POST}Content-Length: ${'9'.repeat(30)}\r\n${END}`,
    400,
    'VALIDATION_ERROR',
  ],
  ['a length of 1 GB', `${POST}Content-Length: 1000000000\r\n${END}`, 413, 'PAYLOAD_TOO_LARGE'],
  ['an unknown coding', `${POST}Transfer-Encoding: tea\r\n${END}${BODY}`, 400, 'VALIDATION_ERROR'],
  [
    'chunked, then another coding',
    `${POST}Transfer-Encoding: chunked, tea\r\n${END}`,
    400,
    'VALIDATION_ERROR',
  ],
  ['a chunk size that is none', `${POST}${CHUNKED}${END}zz\r\n`, 400, 'VALIDATION_ERROR'],
  ['a negative chunk size', `${POST}${CHUNKED}${END}-1\r\n`, 400, 'VALIDATION_ERROR'],
  [
    'a chunk size beyond 64 bits',
    `${POST}${CHUNKED}${END}${'f'.repeat(17)}\r\n`,
    400,
    'VALIDATION_ERROR',
  ],
  ['a chunk longer than its size', `${POST}${CHUNKED}${END}1\r\nabc\r\n`, 400, 'VALIDATION_ERROR'],
  [
    'chunk extensions of 20 kB',
    `${POST}${CHUNKED}${END}1;${'x'.repeat(20_000)}\r\n`,
    413,
    'PAYLOAD_TOO_LARGE',
  ],
  [
    'chunks of 70 kB',
    `${POST}${CHUNKED}${END}${chunk('x'.repeat(70_000))}${chunk('')}`,
    413,
    'PAYLOAD_TOO_LARGE',
  ],
  ['a body that a GET does not have', `${GET}${HOST}${AUTH}Content-Length: 2\r\n${END}{}`, 200],
]

const CASES = CORPUS.map(([why, bytes, status, code]) => ({ why, bytes, status, code }))

test.each(CASES)('$why: $status $code', async ({ bytes, status, code }) => {
  const [answer] = await exchange(app.port, bytes)
  expect(answer?.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer?.headers.get('x-request-id')).toMatch(/^[\w-]{8,64}$/)
  // A client asks each time whether the answer to a query is still the right one.
  const isAnswer = status === 200 && bytes.startsWith('POST')
  expect(answer?.headers.get('cache-control')).toBe(isAnswer ? 'private, no-cache' : 'no-store')
  expect(answer?.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer?.headers.get('date')).toBeDefined()
  const body = JSON.parse(answer!.body) as { error?: { code: string; message: string } }
  expect({ status: answer!.status, code: body.error?.code }).toEqual({ status, code })
})

test('METHOD_NOT_ALLOWED for CONNECT lists the allowed methods', async () => {
  const [answer] = await exchange(app.port, `CONNECT a:443 HTTP/1.1\r\n${HOST}${END}`)
  expect(answer?.headers.get('allow')).toBe('GET, HEAD, POST')
})

test('PAYLOAD_TOO_LARGE for a long header says that it is the header', async () => {
  const [answer] = await exchange(app.port, `${GET}X-A: ${'x'.repeat(20_000)}\r\n${END}`)
  expect(JSON.parse(answer!.body)).toEqual({
    error: {
      code: 'PAYLOAD_TOO_LARGE',
      message: 'The request line and headers are larger than 16 kB.',
      docs: '/docs/errors#payload_too_large',
    },
  })
})

test('an invalid later request on a connection does not break the response before it', async () => {
  const answers = await exchange(app.port, `${GET}${HOST}${AUTH}${END}hello\r\n\r\n`, 2)
  expect(answers.map(({ status }) => status)).toEqual([200, 400])
  expect(JSON.parse(answers[0]!.body)).toEqual({ project: PROJECT })
})

test('pipelined requests get their responses in order', async () => {
  const one = `${GET}${HOST}${AUTH}${END}`
  const two = `GET /nothing HTTP/1.1\r\n${HOST}${END}`
  const answers = await exchange(app.port, one + two + one, 3)
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200])
})

test('the bytes after a refused request are not read as a request', async () => {
  const smuggled = `${POST}${CHUNKED}Content-Length: 4\r\n${END}0\r\n\r\n${GET}${HOST}${AUTH}${END}`
  const answers = await exchange(app.port, smuggled)
  expect(answers.map(({ status }) => status)).toEqual([400])
})

test('the connection is closed if a client sends nothing more after an invalid request', async () => {
  const socket = net.connect(app.port, '127.0.0.1')
  socket.write('hello\r\n\r\n')
  // Ends when the server has closed the connection, because the client does not.
  expect(parseAnswers(await text(socket)).map(({ status }) => status)).toEqual([400])
})
