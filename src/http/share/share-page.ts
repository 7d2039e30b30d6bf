/** GET /share/… : the explorer for a public project, or a page that says why there is none. */
import type { ErrorRequestHandler, RequestHandler } from 'express'
import { ERROR_STATUS } from '../../contract/errors.js'
import { fillPage, readAsset, setHeaders } from '../site/assets.js'
import { buildPagePolicy, openExplorerPage, PAGE_HEADERS } from '../site/explorer.js'
import { unwrapError } from '../server/error-response.js'
import type { Handler } from '../server/routes.js'
import { toApiError } from '../server/translate-error.js'
import type { FindReader } from './read-share.js'
import { createNotSharedError, parseShareTarget } from './share-path.js'

/** The page and its errors are not for search engines: a link is given to people. */
const headers = setHeaders({ ...PAGE_HEADERS, 'X-Robots-Tag': 'noindex' })

/** Builds the handlers of the page. @param count counts a request before it is known which project it is about */
export const buildSharePage = (find: FindReader, count: RequestHandler): readonly Handler[] => [
  headers,
  count,
  sendSharePage(find),
  showError(),
]

function sendSharePage(find: FindReader): RequestHandler {
  const buildPage = openExplorerPage()
  return async ({ originalUrl }, response) => {
    const reader = await find(parseShareTarget(originalUrl)?.name ?? '')
    if (reader === undefined) throw createNotSharedError()
    const { project } = reader
    response.set('Content-Security-Policy', buildPagePolicy(project.embedOrigins))
    response.type('html').send(buildPage(project))
  }
}

/** Shows an error as a page. It is logged as any other. */
function showError(): ErrorRequestHandler {
  const page = readAsset('message.html')
  return (thrown: unknown, request, response, _next) => {
    const error = toApiError(thrown)
    const status = ERROR_STATUS[error.code]
    request.errorCode = error.code
    if (status >= 500) response.err = unwrapError(error)
    response.status(status).set(error.headers)
    response.type('html').send(fillPage(page, { message: error.message }))
  }
}
