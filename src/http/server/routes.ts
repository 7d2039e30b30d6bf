/** The table of routes: paths and methods, from which 404, 405 and Allow follow. */
import type { ErrorRequestHandler, IRouter, RequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'

/** A method that a route can have; HEAD comes with GET. */
export type Method = 'get' | 'post' | 'options'

/** One step of answering; with four arguments, a step for errors of the steps before it. */
export type Handler = RequestHandler | ErrorRequestHandler

/** What answers a path, by method: the handlers in their order. */
export type Methods = Readonly<Partial<Record<Method, readonly Handler[]>>>

/** All that is answered, by exact path. */
export type RouteTable = Readonly<Record<string, Methods>>

/** Adds the routes of a table; another method of a known path is refused before any handler runs. */
export function addRoutes(router: IRouter, table: RouteTable): void {
  for (const [path, methods] of Object.entries(table)) {
    const route = router.route(path)
    if (methods.get !== undefined) route.get(...methods.get)
    if (methods.post !== undefined) route.post(...methods.post)
    if (methods.options !== undefined) route.options(...methods.options)
    route.all(refuseMethod(methods))
  }
}

/** Answers what no route did. */
export const notFound: RequestHandler = () => {
  throw new ApiError('NOT_FOUND', 'There is nothing at this path.')
}

function refuseMethod(methods: Methods): RequestHandler {
  const allow = [
    ...(methods.get === undefined ? [] : ['GET', 'HEAD']),
    ...(methods.post === undefined ? [] : ['POST']),
    ...(methods.options === undefined ? [] : ['OPTIONS']),
  ].join(', ')
  return () => {
    throw new ApiError('METHOD_NOT_ALLOWED', `This path answers ${allow} only.`, {
      headers: { Allow: allow },
    })
  }
}
