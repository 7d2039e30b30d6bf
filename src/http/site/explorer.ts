/** Serves the explorer: the page on which people look at the numbers of a project. */
import { Router } from 'express'
import { addRoutes } from '../server/routes.js'
import { buildContentSecurityPolicy, fillPage, readAsset, sendText, setHeaders } from './assets.js'

const pageHeaders = setHeaders({
  'Content-Security-Policy': buildContentSecurityPolicy('data:'),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
})

/** Builds the page. @param project the name of the project; empty if only its key tells */
export const buildExplorerPage = (project: string): string =>
  fillPage(readAsset('explorer.html'), {
    project,
    title: project === '' ? 'Tallyhouse' : `${project} · Tallyhouse`,
  })

/** Creates the routes under /explore. They need no key: the page gets it from the people who open it, and asks with it. */
export function createExplorerRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true })
  addRoutes(router, {
    '/explore': { get: [pageHeaders, sendText('html', buildExplorerPage(''))] },
    '/explore/explorer.js': { get: [pageHeaders, sendText('js', readAsset('explorer.js'))] },
    '/explore/explorer.css': { get: [pageHeaders, sendText('css', readAsset('explorer.css'))] },
  })
  return router
}
