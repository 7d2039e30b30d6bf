/** Lets a request that brings events pass once its public token is known to be good. */
import type { RequestHandler } from 'express'
import { invalidTokenError, type FindProject } from '../../ingest/collect/find-project.js'
import { deliveryOf } from './collect-context.js'

/** RFC 9110: the name of a scheme is case-insensitive. */
const BEARER = /^bearer (?<token>\S+)$/i

/** Looks at the token of the header, where there is one, before anything is read. */
export const tokenInHeader =
  (findProject: FindProject): RequestHandler =>
  async (request, _response, next) => {
    const [header, ...others] = request.headersDistinct['authorization'] ?? []
    if (header !== undefined) {
      const token = BEARER.exec(header)?.groups?.['token']
      if (token === undefined || others.length > 0) throw invalidTokenError()
      deliveryOf(request).project = await findProject(token)
    }
    next()
  }

/** Looks at the token of the body and takes it out. One that is beside a token in the header must be the same. */
export const tokenInBody =
  (findProject: FindProject): RequestHandler =>
  async (request, _response, next) => {
    const delivery = deliveryOf(request)
    const { token, ...body } = request.body as { readonly token?: unknown }
    if (delivery.project === undefined) {
      if (typeof token !== 'string') throw invalidTokenError()
      delivery.project = await findProject(token)
    } else if (token !== undefined && token !== delivery.project.token) {
      throw invalidTokenError()
    }
    request.body = body
    next()
  }
