/** Serves the explorer: the page on which people look at the numbers of a project. */
import { Router } from 'express'
import { addRoutes } from '../server/routes.js'
import {
  buildContentSecurityPolicy,
  fillPage,
  openHashedAsset,
  readAsset,
  sendText,
  setHeaders,
} from './assets.js'

/** Builds the policy of the page. @param ancestors the origins of pages that may show it in a frame */
export const buildPagePolicy = (ancestors: readonly string[] = []): string =>
  buildContentSecurityPolicy('data:', ancestors)

export const PAGE_HEADERS = {
  'Content-Security-Policy': buildPagePolicy(),
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

/** Opens the script and the style sheet of the page. */
const openFiles = () => [openHashedAsset('explorer.js'), openHashedAsset('explorer.css')] as const

/** Reads the page, whose project is filled in for each request. */
export function openExplorerPage(): BuildExplorerPage {
  const html = readAsset('explorer.html')
  const [script, style] = openFiles()
  return ({ name, timeZone }) =>
    fillPage(html, {
      project: name,
      zone: timeZone ?? '',
      script: script.name,
      style: style.name,
      title: name === '' ? 'Tallyhouse' : `${name} · Tallyhouse`,
    })
}

/** Creates the routes under /explore. They need no key: the page gets it from the people who open it, and asks with it. */
export function createExplorerRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const [script, style] = openFiles()
  const sendPage = sendText('html', openExplorerPage()({ name: '', timeZone: null }))
  addRoutes(router, {
    '/explore': { get: [pageHeaders, sendPage] },
    // A page of another version asks for another hash, for as long as both are served.
    '/explore/explorer{.:hash}.js': { get: [pageHeaders, script.send] },
    '/explore/explorer{.:hash}.css': { get: [pageHeaders, style.send] },
    // A project of the tab's admin key. The page reads its id from the address.
    '/explore/:project': { get: [pageHeaders, sendPage] },
  })
  return router
}
