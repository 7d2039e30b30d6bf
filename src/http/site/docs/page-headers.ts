/** The headers of every page, document and file of the documentation. */
import { buildContentSecurityPolicy, setHeaders } from '../assets.js'

/** Sets them: nothing is loaded from other origins, and each use asks whether the page has changed. */
export const pageHeaders = setHeaders({
  'Content-Security-Policy': buildContentSecurityPolicy("'self' data:"),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
})
