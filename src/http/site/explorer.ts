/** Serves the explorer: the page on which people look at the numbers of a project. */
import { Router } from 'express'
import { addRoutes } from '../server/routes.js'
import { buildContentSecurityPolicy, fillPage, readAsset, sendText, setHeaders } from './assets.js'

export const PAGE_HEADERS = {
  'Content-Security-Policy': buildContentSecurityPolicy('data:'),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
}
const pageHeaders = setHeaders(PAGE_HEADERS)

/** What the page is told of its project: nothing if only its key tells. */
interface PageProject {
  readonly name: string
  readonly timeZone: string | null
}

/** Builds the page of a project. */
type BuildExplorerPage = (project: PageProject) => string

/** Reads the page, whose project is filled in for each request. */
export function openExplorerPage(): BuildExplorerPage {
  const html = readAsset('explorer.html')
  return ({ name, timeZone }) =>
    fillPage(html, {
      project: name,
      zone: timeZone ?? '',
      title: name === '' ? 'Tallyhouse' : `${name} · Tallyhouse`,
    })
}

/** Creates the routes under /explore. They need no key: the page gets it from the people who open it, and asks with it. */
export function createExplorerRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true })
  addRoutes(router, {
    '/explore': {
      get: [pageHeaders, sendText('html', openExplorerPage()({ name: '', timeZone: null }))],
    },
    '/explore/explorer.js': { get: [pageHeaders, sendText('js', readAsset('explorer.js'))] },
    '/explore/explorer.css': { get: [pageHeaders, sendText('css', readAsset('explorer.css'))] },
  })
  return router
}
