/** The tracking script and those that it loads as they are served: small, usable by any site, and cached for a day. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import { Script } from 'node:vm'
import express from 'express'
import request from 'supertest'
import { handleError } from '../../../../src/http/server/error-response.js'
import { createTrackingRouter } from '../../../../src/http/site/tracking.js'

const app = express().disable('etag').use(createTrackingRouter('tally.js'), handleError)

describe.each([
  ['/tally.js', 2_048, '/*! Tallyhouse tracking script, Apache-2.0 */'],
  ['/tally-engagement.js', 2_048, '/*! Tallyhouse, Apache-2.0 */'],
  ['/tally-vitals.js', 11_264, '/*! Tallyhouse, with web-vitals of Google: both Apache-2.0 */'],
])('%s', (path, size, licence) => {
  let headers: Readonly<Record<string, string>>
  let text: string
  beforeAll(async () => {
    ;({ headers, text } = await request(app).get(path).expect(200))
  })

  test('is smaller than its limit', () => {
    expect(Buffer.byteLength(text)).toBeLessThan(size)
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
  })

  test('has its name and licence in the first line', () => {
    expect(text.split('\n')[0]).toBe(licence)
  })

  test('is valid JavaScript and evaluates no strings as code or HTML', () => {
    expect(() => new Script(text)).not.toThrow()
    expect(text).not.toMatch(/\beval\b|\bFunction\b|innerHTML|document\.write/)
  })

  test('may be loaded by any page, and browsers keep it for a day', () => {
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=86400',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
    })
  })

  test('is sent again only if it has changed', async () => {
    const again = await request(app).get(path).set('If-None-Match', headers['etag']!)
    expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', headers['etag']])
    await request(app).get(path).set('If-None-Match', '"other"').expect(200, text)
  })

  test('has the other name, too', async () => {
    const named = express().disable('etag').use(createTrackingRouter('a-b.2.js'), handleError)
    const { text: other, headers: others } = await request(named)
      .get(path.replace('tally', 'a-b.2'))
      .expect(200)
    expect([other, others]).toEqual([text, { ...headers, date: others['date'] }])
  })
})

test('only GET and HEAD are allowed', async () => {
  const { status, headers: refused } = await request(app).post('/tally.js')
  expect([status, refused['allow']]).toEqual([405, 'GET, HEAD'])
})

test.each(['hello.js', 'a-b_c.2.js', '..js', 'tally.js'])(
  'named %s, it is the same script, and /tally.js stays',
  async (name) => {
    const { headers, text } = await request(app).get('/tally.js')
    const named = express().disable('etag').use(createTrackingRouter(name), handleError)
    for (const path of [`/${name}`, '/tally.js']) {
      const again = await request(named).get(path)
      expect([again.status, again.text, again.headers]).toEqual([
        200,
        text,
        { ...headers, date: again.headers['date'] },
      ])
    }
    await request(named).get(`/${name.toUpperCase()}`).expect(404)
    await request(named).get('/other.js').expect(404)
  },
)
