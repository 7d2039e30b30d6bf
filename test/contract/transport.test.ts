/** How a body must be sent: content type, encoding, size and JSON, with the error for each. */
import { describe, expect, test } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import request from 'supertest'
import { contractApp, PROJECT, QUERY } from './contract-app.js'
import { document, examplesOf } from './document.js'
import { HOSTILE_BODIES } from '../support/faults/hostile-bodies.js'

const app = contractApp((req, res) => {
  res
    .type('text')
    .send(JSON.stringify({ body: req.body as unknown, type: req.get('content-type') }))
})

const project = examplesOf(document.paths[PROJECT]!['get']!.responses['200']!)[0]![1].value
const answering = contractApp((_req, res) => {
  res.json(project)
})

const post = () => request(app).post(QUERY)
const body = '{"date_range":"today"}'

/** Returns the error code of a response, or its status if it has none. */
async function outcome(sent: request.Test) {
  const { status, text } = await sent
  const { error } = JSON.parse(text) as { readonly error?: { readonly code: string } }
  return error === undefined ? String(status) : `${status} ${error.code}`
}

describe('Content-Type', () => {
  test.each([
    ['application/json', '200'],
    ['Application/JSON; charset="UTF-8"', '200'],
    ['text/plain', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['application/x-www-form-urlencoded', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['multipart/form-data; boundary=x', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['application/json; charset=utf-16', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['application/json; charset=iso-8859-1', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['application/json; x=1', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['application/vnd.api+json', '415 UNSUPPORTED_MEDIA_TYPE'],
  ])('%s: %s', async (type, expected) => {
    expect(await outcome(post().set('Content-Type', type).send(body))).toBe(expected)
  })

  test('none at all: 415', async () => {
    expect(await outcome(post())).toBe('415 UNSUPPORTED_MEDIA_TYPE')
  })

  test('handlers and the validator see a normalized content type', async () => {
    const { text } = await post().set('Content-Type', 'APPLICATION/json ;charset=Utf-8').send(body)
    expect(JSON.parse(text)).toMatchObject({ type: 'application/json' })
  })

  test('the content type of a request without a body is ignored', async () => {
    const { status, text } = await request(app).get(PROJECT).set('Content-Type', 'x/y; z=1')
    expect({ status, text }).toEqual({ status: 200, text: '{}' })
  })
})

test.each(['text/html', 'application/xml', 'x', '*/*'])(
  'the answer is JSON whatever is accepted: %s',
  async (accept) => {
    expect(await outcome(post().type('application/json').set('Accept', accept).send(body))).toBe(
      '200',
    )
    const asked = request(answering).get(PROJECT).set('Accept', accept)
    expect(await outcome(asked)).toBe('200')
  },
)

describe('Content-Encoding', () => {
  test.each(['gzip', 'br', 'deflate', 'zstd', 'x'])('%s: 415', async (encoding) => {
    const sent = post().type('application/json').set('Content-Encoding', encoding)
    expect(await outcome(sent.send(gzipSync(body).toString('latin1')))).toBe(
      '415 UNSUPPORTED_MEDIA_TYPE',
    )
  })
})

describe('size', () => {
  const padded = (bytes: number) => body.padEnd(bytes, ' ')
  test.each([
    [65_536, '200'],
    [65_537, '413 PAYLOAD_TOO_LARGE'],
    [1_000_000, '413 PAYLOAD_TOO_LARGE'],
  ])('%d bytes: %s', async (bytes, expected) => {
    expect(await outcome(post().type('application/json').send(padded(bytes)))).toBe(expected)
  })
})

test('malformed JSON is not quoted back', async () => {
  const { text } = await post().type('application/json').send('{"secret-7f3a": oops}')
  expect(JSON.parse(text)).toEqual({
    error: {
      code: 'VALIDATION_ERROR',
      message: 'The request is not valid: body is not valid JSON at line 1, column 17.',
      details: [{ field: 'body', message: 'is not valid JSON at line 1, column 17' }],
      docs: '/docs/errors#validation_error',
    },
  })
})

test.each([
  ['get', PROJECT],
  ['post', QUERY],
] as const)('%s %s takes no query parameters', async (method, path) => {
  const sent = request(app)[method](`${path}?limit=5&constructor=1`)
  const { status, text } = await (method === 'post' ? sent.type('json').send(body) : sent)
  expect({ status, answer: JSON.parse(text) as unknown }).toMatchObject({
    status: 400,
    answer: { error: { details: [{ field: 'limit', message: 'is not a known query parameter' }] } },
  })
})

test('an unknown path is NOT_FOUND, another method METHOD_NOT_ALLOWED with Allow', async () => {
  expect(await outcome(request(app).get('/v1/nothing'))).toBe('404 NOT_FOUND')
  expect(await outcome(request(app).get(QUERY))).toBe('405 METHOD_NOT_ALLOWED')
  expect((await request(app).get(QUERY)).headers['allow']).toBe('POST')
})

test.each(HOSTILE_BODIES)('a body with too many %s is refused', async (_, hostile) => {
  expect(await outcome(post().type('application/json').send(hostile))).toBe('400 VALIDATION_ERROR')
})
