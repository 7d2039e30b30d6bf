/** The paths of public dashboards: `/share/shop`, and below it those of the operations, `/share/shop/v1/analytics/query`. */
import type { RequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'

/** The template of the path of a public dashboard. */
export const SHARE = '/share/:project'

/** What a request to a public dashboard asks for. */
interface ShareTarget {
  /** The id or the public token of a project, as far as the path tells. */
  readonly name: string
  /** The path and the query string below the dashboard: those of an operation; empty for the page. */
  readonly below: string
}

/** A name is written as it is: no percent sign, so that each dashboard has one spelling. */
const TARGET = /^\/share\/([A-Za-z0-9_-]{1,128})((?:\/[^]*)?(?:\?[^]*)?)$/

/** Parses the target of a request; undefined if it cannot be that of a public dashboard. */
export function parseShareTarget(target: string): ShareTarget | undefined {
  const [, name, below] = TARGET.exec(target) ?? []
  return name === undefined || below === undefined ? undefined : { name, below }
}

/** Refuses all paths below /share that name no project, before a router decodes them. */
export const refuseOddNames: RequestHandler = ({ originalUrl }, _response, next) => {
  const isOdd = originalUrl.startsWith('/share/') && parseShareTarget(originalUrl) === undefined
  next(isOdd ? createNotSharedError() : undefined)
}

/** The same for a project that does not exist and one that is not public: nobody can tell them apart. */
export const createNotSharedError = (): ApiError =>
  new ApiError('NOT_FOUND', 'There is no public dashboard at this path.')
