/** Serves the demo shop: a few pages that are tracked as a customer's would be. */
import { Router } from 'express'
import { PRODUCTS } from '../../demo/pages.js'
import { contentSecurityPolicy, fillPage, readAsset, sendText, setHeaders } from './assets.js'
import { addRoutes } from '../server/routes.js'

/** The products on sale; the others are only in the demo's history. */
const ON_SALE = PRODUCTS.slice(0, 6).map(({ product }) => product)

/** The addresses of the shop's pages. The document is the same at all of them; its script shows the page. */
const PATHS: readonly string[] = [
  '/demo',
  ...ON_SALE.map(({ name }) => `/demo/products/${name}`),
  '/demo/cart',
  '/demo/thanks',
]

const pageHeaders = setHeaders({
  'Content-Security-Policy': contentSecurityPolicy("'self'"),
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
})

/**
 * The routes under /demo. They need no key.
 *
 * @param token the public token of the project that the visits count for
 */
export function demoRouter(token: string): Router {
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
