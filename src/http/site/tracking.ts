/** Serves the tracking script, and those beside it that it loads where a page asks for what they measure. */
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

/** What the names of the scripts have before `.js`, after the name of the tracking script. It names them in the same way. */
const SUFFIXES = ['', '-vitals', '-engagement'] as const

/**
 * Creates the routes of the scripts. They need no key.
 *
 * @param name another file name of the tracking script, beside `tally.js`; it may be the same. It ends with `.js`
 */
export function createTrackingRouter(name: string): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const suffix of SUFFIXES) {
    const script = readAsset(`tally${suffix}.js`)
    const hash = createHash('sha256').update(script).digest('base64url')
    const headers = setHeaders({ ...HEADERS, ETag: `"${hash}"` })
    const methods = { get: [headers, sendText('js', script)] }
    const other = `/${name.replace(/\.js$/, `${suffix}.js`)}`
    addRoutes(router, { [`/tally${suffix}.js`]: methods, [other]: methods })
  }
  return router
}
