/** The files of the explorer as they are served. */
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import express from 'express'
import request from 'supertest'
import { handleError } from '../../../../src/http/server/error-response.js'
import { createExplorerRouter, openExplorerPage } from '../../../../src/http/site/explorer.js'

const app = express().use(createExplorerRouter(), handleError)

/** The paths of the script and the style sheet that the page names. */
async function listFiles(): Promise<readonly string[]> {
  const { text } = await request(app).get('/explore').expect(200)
  return [...text.matchAll(/(?:src|href)="(\/explore\/[^"]+)"/g)].map(([, path]) => path!)
}

/** Gets a file with its bytes as they are sent: most clients decode them at once. */
async function getBytes(path: string, encoding: string) {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sent = get({ host: '127.0.0.1', port, path, headers: { 'Accept-Encoding': encoding } })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const body = Buffer.concat((await response.toArray()) as Buffer[])
  server.close()
  return { headers: response.headers, body }
}

test('compressed, as they are sent, they are smaller than 60 kB together', async () => {
  const sizes = await Promise.all(
    (await listFiles()).map(async (path) => {
      const { headers } = await getBytes(path, 'gzip, deflate, br, zstd')
      expect(headers['content-encoding']).toBe('br')
      return Number(headers['content-length'])
    }),
  )
  expect(sizes).toHaveLength(2)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000)
})

const COMMON = {
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
}

test.each([
  ['/explore', 'text/html; charset=utf-8'],
  ['/explore/explorer.js', 'text/javascript; charset=utf-8'],
  ['/explore/explorer.css', 'text/css; charset=utf-8'],
  ['/explore/explorer.0123456789ab.css', 'text/css; charset=utf-8'],
])('%s is %s, is checked for changes, and may load nothing from elsewhere', async (path, type) => {
  const { headers } = await request(app).get(path).expect(200)
  expect(headers).toMatchObject({ ...COMMON, 'content-type': type, 'cache-control': 'no-cache' })
  await request(app).get(path).set('If-None-Match', headers['etag']!).expect(304)
})

test('what the page names is kept for good, and is the same in every encoding', async () => {
  for (const path of await listFiles()) {
    expect(path).toMatch(/^\/explore\/explorer\.[0-9a-f]{12}\.(js|css)$/)
    const [plain, gzip, br] = await Promise.all(
      ['identity', 'gzip', 'br'].map((encoding) => getBytes(path, encoding)),
    )
    expect(plain!.headers).toMatchObject({
      ...COMMON,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    })
    expect(plain!.headers['content-encoding']).toBeUndefined()
    const [body, ...decoded] = [plain!.body, gunzipSync(gzip!.body), brotliDecompressSync(br!.body)]
    expect(decoded.every((one) => one.equals(body))).toBe(true)
    expect(new Set([plain, gzip, br].map((one) => one!.headers.etag)).size).toBe(3)
  }
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
