/** Builds routes from a table of paths and methods, from which 404, 405 and Allow follow. */
import type { ErrorRequestHandler, IRouter, RequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'

/** The methods of routes, in the order of an Allow header. HEAD comes with GET. */
const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'options'] as const
export type Method = (typeof METHODS)[number]

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
    for (const method of METHODS) {
      const handlers = methods[method]
      if (handlers !== undefined) route[method](...handlers)
    }
    route.all(rejectMethod(methods))
  }
}

/** Rejects a request that no route matched. */
export const rejectUnknownPath: RequestHandler = () => {
  throw new ApiError('NOT_FOUND', 'There is nothing at this path.')
}

function rejectMethod(methods: Methods): RequestHandler {
  const allow = METHODS.filter((method) => methods[method] !== undefined)
    .flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
    .join(', ')
  return () => {
    throw new ApiError('METHOD_NOT_ALLOWED', `This path supports ${allow} only.`, {
      headers: { Allow: allow },
    })
  }
}
