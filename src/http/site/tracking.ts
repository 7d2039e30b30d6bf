/** Serves the tracking script. */
import { createHash } from 'node:crypto'
import { Router, type RequestHandler } from 'express'
import { addRoutes } from '../server/routes.js'
import { TRACKING_SCRIPT } from './tracking-script.js'

const ETAG = `"${createHash('sha256').update(TRACKING_SCRIPT).digest('base64url')}"`

/**
 * Pages of any origin may load it, those that isolate themselves too. Browsers keep it for a day: most
 * pageviews then cost no request for it, and a mended script is everywhere a day after it was rolled out.
 */
const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'public, max-age=86400',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  ETag: ETAG,
  'X-Content-Type-Options': 'nosniff',
}

/** The route /tally.js. It needs no key. */
export function trackingRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true })
  addRoutes(router, { '/tally.js': { get: [sendScript] } })
  return router
}

const sendScript: RequestHandler = (_request, response) => {
  response.set(HEADERS).type('js').send(TRACKING_SCRIPT)
}
