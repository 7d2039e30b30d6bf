/** Reads the built files of browser/, fills values into pages, and serves both. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { RequestHandler } from 'express'
import { packagePath } from '../../lib/package-path.js'

/** Reads a file that `npm run build` wrote from browser/, e.g. `readAsset('tally.js')`. */
export const readAsset = (name: string): string =>
  readFileSync(packagePath(`dist/http/site/browser/${name}`), 'utf8')

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

/** Escapes a text for HTML, as text and as a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character)

/**
 * Replaces each `{{name}}` of a page with the value of that name, escaped for text and for quoted attributes, and each
 * `{{{name}}}` with the markup of that name, as it is.
 *
 * @throws Error if the page names a value that is missing
 */
export const fillPage = (
  html: string,
  values: Readonly<Record<string, string>>,
  markup: Readonly<Record<string, string>> = {},
): string =>
  html.replace(/\{\{\{(\w+)\}\}\}|\{\{(\w+)\}\}/g, (found, raw?: string, name?: string) => {
    const value = raw === undefined ? values[name ?? ''] : markup[raw]
    if (value === undefined) throw new Error(`The page has no value for ${found}.`)
    return raw === undefined ? escapeHtml(value) : value
  })

/**
 * Builds the policy of a page that loads everything from this service and runs no inline script.
 *
 * @param images the allowed sources of images, such as `'self' data:`
 * @param ancestors the origins of pages that may show it in a frame; none by default
 */
export const buildContentSecurityPolicy = (
  images: string,
  ancestors: readonly string[] = [],
): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${images}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(' ')}`,
  ].join('; ')

/**
 * Creates a handler that sends a text.
 *
 * @param type a content type, or a file extension that implies one
 */
export const sendText =
  (type: string, text: string): RequestHandler =>
  (_request, response) => {
    response.type(type).send(text)
  }

/** A built file that is sent compressed, and whose name changes with its content. */
interface HashedAsset {
  /** The name, such as `explorer.3fa9c1d2.js`. */
  readonly name: string
  /** Sends it for this name to be kept for good; for another one, that of another version, as what is there now. */
  readonly send: RequestHandler
}

/** Opens a built file, beside which `npm run build` wrote it compressed. @param name such as `explorer.js` */
export function openHashedAsset(name: string): HashedAsset {
  const read = (suffix: string): Buffer =>
    readFileSync(packagePath(`dist/http/site/browser/${name}${suffix}`))
  const bodies = { br: read('.br'), gzip: read('.gz'), identity: read('') }
  const hash = createHash('sha256').update(bodies.identity).digest('hex').slice(0, 12)
  const extension = path.extname(name)
  const hashed = `${path.basename(name, extension)}.${hash}${extension}`
  return {
    name: hashed,
    send: (request, response) => {
      // Browsers name gzip first, and take either.
      const encoding =
        (['br', 'gzip'] as const).find((one) => request.acceptsEncodings(one) !== false) ??
        'identity'
      if (request.path.endsWith(`/${hashed}`))
        response.set('Cache-Control', 'public, max-age=31536000, immutable')
      if (encoding !== 'identity') response.set('Content-Encoding', encoding)
      response.vary('Accept-Encoding').type(extension).send(bodies[encoding])
    },
  }
}

/** Creates a handler that sets headers on the response and calls the next handler. */
export const setHeaders =
  (headers: Readonly<Record<string, string>>): RequestHandler =>
  (_request, response, next) => {
    response.set(headers)
    next()
  }
