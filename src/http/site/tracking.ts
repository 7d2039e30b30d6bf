/** Serves the tracking script. */
import { createHash } from 'node:crypto'
import { Router } from 'express'
import { readAsset, sendText, setHeaders } from './assets.js'
import { addRoutes } from '../server/routes.js'

/**
 * Pages of any origin may load the script, cross-origin isolated ones too. Browsers keep it for a day: most
 * pageviews then cost no request for it, and a corrected script is everywhere a day after its release.
 */
const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'public, max-age=86400',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
}

/** The route /tally.js. It needs no key. */
export function trackingRouter(): Router {
  const script = readAsset('tally.js')
  const hash = createHash('sha256').update(script).digest('base64url')
  const headers = setHeaders({ ...HEADERS, ETag: `"${hash}"` })
  const router = Router({ caseSensitive: true, strict: true })
  addRoutes(router, { '/tally.js': { get: [headers, sendText('js', script)] } })
  return router
}
