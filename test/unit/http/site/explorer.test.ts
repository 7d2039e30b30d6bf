/** The files of the explorer as they are served. */
import { expect, test } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import express from 'express'
import request from 'supertest'
import { handleError } from '../../../../src/http/server/error-response.js'
import { createExplorerRouter, openExplorerPage } from '../../../../src/http/site/explorer.js'

const app = express().use(createExplorerRouter(), handleError)
const PATHS = ['/explore', '/explore/explorer.js', '/explore/explorer.css'] as const

test('together they are smaller than 60 kB, compressed', async () => {
  const texts = await Promise.all(
    PATHS.map(async (path) => (await request(app).get(path).expect(200)).text),
  )
  expect(texts.reduce((sum, text) => sum + gzipSync(text).length, 0)).toBeLessThan(60_000)
})

test.each([
  ['/explore', 'text/html; charset=utf-8'],
  ['/explore/explorer.js', 'text/javascript; charset=utf-8'],
  ['/explore/explorer.css', 'text/css; charset=utf-8'],
])('%s is %s, is checked for changes, and may load nothing from elsewhere', async (path, type) => {
  const { headers } = await request(app).get(path).expect(200)
  expect(headers).toMatchObject({
    'content-type': type,
    'cache-control': 'no-cache',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      'img-src data:',
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  })
  await request(app).get(path).set('If-None-Match', headers['etag']!).expect(304)
})

test('the page has no script and no style of its own', async () => {
  const { text } = await request(app).get('/explore').expect(200)
  expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/)
})

test('the name of a project stays text', () => {
  const page = openExplorerPage()({ name: '"><script>alert(1)</script>', timeZone: null })
  expect(page).toContain('data-project="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"')
  expect(page.match(/<script/g)).toHaveLength(1)
})

test.each([
  [null, 'data-zone=""'],
  ['Europe/Berlin', 'data-zone="Europe/Berlin"'],
])('the page of a project with the time zone %s has %s', (timeZone, written) => {
  expect(openExplorerPage()({ name: 'Shop', timeZone })).toContain(written)
})
