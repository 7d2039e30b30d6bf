/** The contracts are served as JSON, as YAML, and as pages that load nothing from other origins. */
import { expect, test } from '@jest/globals'
import express from 'express'
import request from 'supertest'
import { parse } from 'yaml'
import { createDocsRouter } from '../../../src/http/site/docs/docs-router.js'
import { reduceForClients } from '../../../src/contract/client-document.js'
import { convertToOpenApi30 } from '../../../src/contract/convert-document.js'
import { mergeDocuments } from '../../../src/contract/merge-documents.js'
import { readSpecs } from '../../../src/contract/spec.js'

const specs = readSpecs()
const app = express().use(createDocsRouter(specs))
const NAMES = ['openapi', 'collector', 'management'] as const
const PAGES = ['/docs/reference', '/docs/collector', '/docs/management-reference']

test.each(NAMES)('/%s.yaml is the contract as it was written', async (name) => {
  const { status, headers, text } = await request(app).get(`/${name}.yaml`).buffer()
  expect({ status, type: headers['content-type'], text }).toEqual({
    status: 200,
    type: 'application/yaml; charset=utf-8',
    text: specs[name].yaml,
  })
})

test.each(NAMES)('/%s.json is the same document', async (name) => {
  const { status, text } = await request(app).get(`/${name}.json`)
  expect({ status, document: JSON.parse(text) as unknown }).toEqual({
    status: 200,
    document: parse(specs[name].yaml) as unknown,
  })
})

test.each([
  ['/openapi-client.json', () => reduceForClients(mergeDocuments(specs))],
  ['/openapi-3.0.json', () => convertToOpenApi30(specs.openapi.document)],
  ['/openapi-all.json', () => mergeDocuments(specs)],
  ['/openapi-all-3.0.json', () => convertToOpenApi30(mergeDocuments(specs))],
])('%s is the copy of that name', async (path, copy) => {
  const { status, text } = await request(app).get(path)
  expect({ status, document: JSON.parse(text) as unknown }).toEqual({
    status: 200,
    document: copy(),
  })
})

test('/openapi-client.yaml is the same document as .json', async () => {
  const [yaml, json] = await Promise.all([
    request(app).get('/openapi-client.yaml').buffer(),
    request(app).get('/openapi-client.json'),
  ])
  expect(parse(yaml.text)).toEqual(JSON.parse(json.text))
})

test.each(['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'])(
  '%s is compressed for clients that take gzip, and need not be sent again',
  async (file) => {
    const ask = (headers: Record<string, string>) =>
      request(app).get(`/docs/${file}`).set(headers).buffer()
    const plain = await ask({ 'Accept-Encoding': 'identity' })
    const compressed = await ask({ 'Accept-Encoding': 'gzip' })
    const again = await ask({ 'Accept-Encoding': 'gzip', 'If-None-Match': plain.headers['etag']! })
    expect([plain, compressed, again].map(({ status }) => status)).toEqual([200, 200, 304])
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(compressed.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': plain.headers['content-type'],
      vary: 'Accept-Encoding',
    })
    expect(compressed.text).toBe(plain.text)
  },
)

test.each(PAGES)('everything that %s loads is served by the service', async (path) => {
  const page = await request(app)
    .get(path)
    .expect(200)
    .expect('Content-Type', /^text\/html/)
  const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!)
  expect(links.length).toBeGreaterThan(4)
  for (const link of links) {
    expect(link).toMatch(/^\/(docs|openapi|collector|management)/)
    await request(app).get(link).expect(200)
  }
})

test.each([
  ['/docs/reference', '/openapi'],
  ['/docs/collector', '/collector'],
  ['/docs/management-reference', '/management'],
])('%s shows its contract, and links to the other and to the docs', async (path, contract) => {
  const { text } = await request(app).get(path)
  expect(text).toContain(`data-contract="${contract}.json"`)
  expect([...text.matchAll(/<a href="(\/docs[^"]*)"/g)].map(([, link]) => link)).toEqual([
    '/docs',
    ...PAGES,
  ])
  expect(text).toContain(`<a href="${path}" aria-current="page">`)
})

test.each(PAGES)('%s works under a policy without inline scripts or styles', async (path) => {
  const { text, headers } = await request(app).get(path)
  expect(text).not.toMatch(/<script>|<style|\son\w+=|style=/)
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'; /,
  )
  expect(headers['content-security-policy']).not.toContain('unsafe')
})

test('nothing else of Swagger UI is served', async () => {
  await request(app).get('/docs/swagger-initializer.js').expect(404)
  await request(app).get('/docs/../package.json').expect(404)
})
