/** Serves the tracking script. */
import { createHash } from 'node:crypto'
import { Router } from 'express'
import { readAsset, sendText, setHeaders } from './assets.js'
import { addRoutes } from '../server/routes.js'

/**
 * Pages of any origin may load the script, including cross-origin isolated ones. Browsers cache it for a day: most
 * pageviews load it without a request, and a corrected script reaches every browser a day after its release.
 */
const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'public, max-age=86400',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
}

/**
 * Creates the routes of the script. They need no key.
 *
 * @param name another file name of the script, beside `tally.js`; it may be the same
 */
export function createTrackingRouter(name: string): Router {
  const script = readAsset('tally.js')
  const hash = createHash('sha256').update(script).digest('base64url')
  const headers = setHeaders({ ...HEADERS, ETag: `"${hash}"` })
  const router = Router({ caseSensitive: true, strict: true })
  const methods = { get: [headers, sendText('js', script)] }
  addRoutes(router, { '/tally.js': methods, [`/${name}`]: methods })
  return router
}
