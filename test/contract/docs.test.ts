/** The contract is published: as a page that needs nothing from elsewhere, as JSON and as YAML. */
import { expect, test } from '@jest/globals'
import express from 'express'
import request from 'supertest'
import { parse } from 'yaml'
import { docsRouter } from '../../src/http/docs.js'
import { spec } from './contract-app.js'

const app = express().use(docsRouter(spec))

test('/openapi.yaml is the contract as it was written', async () => {
  const { status, headers, text } = await request(app).get('/openapi.yaml').buffer()
  expect({ status, type: headers['content-type'], text }).toEqual({
    status: 200,
    type: 'application/yaml; charset=utf-8',
    text: spec.yaml,
  })
})

test('/openapi.json is the same document', async () => {
  const { status, text } = await request(app).get('/openapi.json')
  expect({ status, document: JSON.parse(text) as unknown }).toEqual({
    status: 200,
    document: parse(spec.yaml) as unknown,
  })
})

test('everything the page loads is served from here', async () => {
  const page = await request(app)
    .get('/docs')
    .expect(200)
    .expect('Content-Type', /^text\/html/)
  const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!)
  expect(links.length).toBeGreaterThan(4)
  for (const link of links) {
    expect(link).toMatch(/^\/(docs|openapi)/)
    await request(app).get(link).expect(200)
  }
})

test('the page runs under a policy without inline scripts or styles', async () => {
  const { text, headers } = await request(app).get('/docs')
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
