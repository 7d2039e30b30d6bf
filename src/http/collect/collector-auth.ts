/** Authenticates requests to the collector by the public token of a project. */
import type { RequestHandler } from 'express'
import { parseBearerToken } from '../../contract/bearer.js'
import { invalidTokenError, type FindProject } from '../../ingest/collect/find-project.js'
import { getCollectContext } from '../server/request-context.js'

/** Checks the token of the Authorization header, if the request has one, before the body is read. */
export const checkHeaderToken =
  (findProject: FindProject): RequestHandler =>
  async (request, _response, next) => {
    const [header, ...others] = request.headersDistinct['authorization'] ?? []
    if (header !== undefined) {
      const token = parseBearerToken(header)
      if (token === undefined || others.length > 0) throw invalidTokenError()
      getCollectContext(request).project = await findProject(token)
    }
    next()
  }

/** Checks the token of the body and removes it from the body. If the header has a token, both must be the same. */
export const checkBodyToken =
  (findProject: FindProject): RequestHandler =>
  async (request, _response, next) => {
    const context = getCollectContext(request)
    const { token, ...body } = request.body as { readonly token?: unknown }
    if (context.project === undefined) {
      if (typeof token !== 'string') throw invalidTokenError()
      context.project = await findProject(token)
    } else if (token !== undefined && token !== context.project.token) {
      throw invalidTokenError()
    }
    request.body = body
    next()
  }
