/** Reads the built files of browser/, fills the values into pages, and serves both. */
import { readFileSync } from 'node:fs'
import type { RequestHandler } from 'express'
import { packagePath } from '../../lib/package-path.js'

/** Reads a file of browser/ as `npm run build` has built it, e.g. `readAsset('tally.js')`. */
export const readAsset = (name: string): string =>
  readFileSync(packagePath(`dist/http/site/browser/${name}`), 'utf8')

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character)

/**
 * Replaces each `{{name}}` of a page with the value of that name, escaped for texts and quoted attributes.
 *
 * @throws when the page names a value that is missing
 */
export const fillPage = (html: string, values: Readonly<Record<string, string>>): string =>
  html.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`The page has no value for {{${name}}}.`)
    return escapeHtml(value)
  })

/** Pages load everything from here and run no inline script. @param images sources of images */
export const contentSecurityPolicy = (images: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${images}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Sends a text. @param type a content type, or a file extension that stands for one */
export const sendText =
  (type: string, text: string): RequestHandler =>
  (_request, response) => {
    response.type(type).send(text)
  }

/** Sets headers on the responses of the handlers after it. */
export const setHeaders =
  (headers: Readonly<Record<string, string>>): RequestHandler =>
  (_request, response, next) => {
    response.set(headers)
    next()
  }
