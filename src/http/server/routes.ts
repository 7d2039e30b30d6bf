/** Builds routes from a table of paths and methods, from which 404, 405 and Allow follow. */
import type { ErrorRequestHandler, IRouter, RequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'

/** A method of a route. HEAD comes with GET. */
export type Method = 'get' | 'post' | 'options'

/** One step of handling a request; with four parameters, a handler for errors of earlier steps. */
export type Handler = RequestHandler | ErrorRequestHandler

/** The handlers of a path, in order, by method. */
export type Methods = Readonly<Partial<Record<Method, readonly Handler[]>>>

/** Routes by exact path. */
export type RouteTable = Readonly<Record<string, Methods>>

/** Adds the routes of a table. Other methods of its paths get METHOD_NOT_ALLOWED before any handler runs. */
export function addRoutes(router: IRouter, table: RouteTable): void {
  for (const [path, methods] of Object.entries(table)) {
    const route = router.route(path)
    if (methods.get !== undefined) route.get(...methods.get)
    if (methods.post !== undefined) route.post(...methods.post)
    if (methods.options !== undefined) route.options(...methods.options)
    route.all(rejectMethod(methods))
  }
}

/** Rejects a request that no route matched. */
export const rejectUnknownPath: RequestHandler = () => {
  throw new ApiError('NOT_FOUND', 'There is nothing at this path.')
}

function rejectMethod(methods: Methods): RequestHandler {
  const allow = [
    ...(methods.get === undefined ? [] : ['GET', 'HEAD']),
    ...(methods.post === undefined ? [] : ['POST']),
    ...(methods.options === undefined ? [] : ['OPTIONS']),
  ].join(', ')
  return () => {
    throw new ApiError('METHOD_NOT_ALLOWED', `This path supports ${allow} only.`, {
      headers: { Allow: allow },
    })
  }
}
