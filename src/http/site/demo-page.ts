/** Serves the demo's shop: a few pages that are tracked as a customer's would be. */
import { Router, type RequestHandler } from 'express'
import { DEMO_PATHS, demoMarkup } from './demo-markup.js'
import { DEMO_SCRIPT } from './demo-script.js'
import { DEMO_STYLE } from './demo-style.js'
import { addRoutes } from '../server/routes.js'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * The routes under /demo. They need no key, and nothing from outside.
 *
 * @param token the public one of the project that the visits count for
 */
export function demoRouter(token: string): Router {
  const markup = demoMarkup(token)
  const router = Router({ caseSensitive: true, strict: true })
  addRoutes(router, {
    ...Object.fromEntries(DEMO_PATHS.map((path) => [path, { get: [send('html', markup)] }])),
    '/demo/shop.js': { get: [send('js', DEMO_SCRIPT)] },
    '/demo/shop.css': { get: [send('css', DEMO_STYLE)] },
  })
  return router
}

const send =
  (type: string, text: string): RequestHandler =>
  (_request, response) => {
    response
      .set({
        'Content-Security-Policy': POLICY,
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-cache',
      })
      .type(type)
      .send(text)
  }
