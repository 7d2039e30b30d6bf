/** Serves the demo shop: a few pages that the tracking script tracks like those of a real site. */
import { Router } from 'express'
import { PRODUCTS } from '../../demo/pages.js'
import { buildContentSecurityPolicy, fillPage, readAsset, sendText, setHeaders } from './assets.js'
import { addRoutes } from '../server/routes.js'

/** The products that the shop sells. The others occur only in the demo's generated history. */
const ON_SALE = PRODUCTS.slice(0, 6).map(({ product }) => product)

/** The paths of the shop's pages. All of them serve the same document, whose script shows the right page. */
const PATHS: readonly string[] = [
  '/demo',
  ...ON_SALE.map(({ name }) => `/demo/products/${name}`),
  '/demo/cart',
  '/demo/thanks',
]

const pageHeaders = setHeaders({
  'Content-Security-Policy': buildContentSecurityPolicy("'self'"),
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
})

/**
 * Creates the routes under /demo. They need no key.
 *
 * @param token the public token of the project that gets the visits
 */
export function createDemoRouter(token: string): Router {
  const html = fillPage(readAsset('shop.html'), { token, products: JSON.stringify(ON_SALE) })
  const router = Router({ caseSensitive: true, strict: true })
  addRoutes(router, {
    ...Object.fromEntries(
      PATHS.map((path) => [path, { get: [pageHeaders, sendText('html', html)] }]),
    ),
    '/demo/shop.js': { get: [pageHeaders, sendText('js', readAsset('shop.js'))] },
    '/demo/shop.css': { get: [pageHeaders, sendText('css', readAsset('shop.css'))] },
  })
  return router
}
