/** Publishes the contracts: as pages to read and try, as JSON and as YAML. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Router, type RequestHandler } from 'express'
import { pageOf, PAGES, SCRIPT, STYLE } from './docs-page.js'
import { addRoutes, type RouteTable } from '../server/routes.js'
import type { Spec, SpecName } from '../../contract/spec.js'

const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

/** The files of Swagger UI that the page loads. */
const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The routes of the pages and documents. They need no key, and nothing from outside. */
export function docsRouter({ openapi, collector }: Readonly<Record<SpecName, Spec>>): Router {
  const router = Router({ caseSensitive: true, strict: true })
  addRoutes(router, {
    ...routesOf('openapi', openapi),
    ...routesOf('collector', collector),
    '/docs/page.js': { get: [guard, sendText('js', SCRIPT)] },
    '/docs/page.css': { get: [guard, sendText('css', STYLE)] },
    ...Object.fromEntries(
      ASSETS.map((asset) => [`/docs/${asset}`, { get: [guard, sendAsset(asset)] }]),
    ),
  })
  return router
}

function routesOf(name: SpecName, { yaml, document }: Spec): RouteTable {
  const page = PAGES[name]
  return {
    [page.path]: { get: [guard, sendText('html', pageOf(page))] },
    [`${page.contract}.json`]: { get: [guard, sendText('json', JSON.stringify(document))] },
    [`${page.contract}.yaml`]: {
      get: [guard, sendText('application/yaml; charset=utf-8', yaml)],
    },
  }
}

const guard: RequestHandler = (_req, res, next) => {
  res.set({
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-cache',
  })
  next()
}

const sendAsset =
  (asset: string): RequestHandler =>
  (_req, res) => {
    res.sendFile(join(SWAGGER_UI, asset))
  }

const sendText =
  (type: string, text: string): RequestHandler =>
  (_req, res) => {
    res.type(type).send(text)
  }
