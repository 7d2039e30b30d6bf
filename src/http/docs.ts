/** Publishes the contract: as a page to read and try, as JSON and as YAML. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Router, type RequestHandler } from 'express'
import { PAGE, SCRIPT, STYLE } from './docs-page.js'
import { addRoutes } from './routes.js'
import type { Spec } from './spec.js'

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

/** The routes /docs, /openapi.json and /openapi.yaml. They need no key, and nothing from outside. */
export function docsRouter({ yaml, document }: Spec): Router {
  const router = Router({ caseSensitive: true, strict: true })
  addRoutes(router, {
    '/docs': { get: [guard, sendText('html', PAGE)] },
    '/docs/page.js': { get: [guard, sendText('js', SCRIPT)] },
    '/docs/page.css': { get: [guard, sendText('css', STYLE)] },
    '/openapi.json': { get: [guard, sendText('json', JSON.stringify(document))] },
    '/openapi.yaml': { get: [guard, sendText('application/yaml; charset=utf-8', yaml)] },
    ...Object.fromEntries(
      ASSETS.map((asset) => [`/docs/${asset}`, { get: [guard, sendAsset(asset)] }]),
    ),
  })
  return router
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
