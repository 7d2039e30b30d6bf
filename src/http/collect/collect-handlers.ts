/** The first and last handlers of POST /v1/events, and its preflight. */
import type { RequestHandler } from 'express'
import type { SentEvent } from '../../contract/collector-api.js'
import type { Collect } from '../../ingest/collect/collect.js'
import { getCollectContext } from '../server/request-context.js'
import { readClientInfo } from './read-client-info.js'

/** Lets pages of any origin read the response, errors included. */
export const allowAnyOrigin: RequestHandler = (_request, response, next) => {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id')
  next()
}

/** OPTIONS /v1/events: the CORS preflight, which browsers cache for a day. */
export const optionsEvents: RequestHandler = (_request, response) => {
  response.set({
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Max-Age': '86400',
  })
  response.status(204).end()
}

/** Sets `request.collectContext` with the request's time of arrival. */
export const beginCollect =
  (now: () => Date): RequestHandler =>
  (request, _response, next) => {
    request.collectContext = { receivedAt: now() }
    next()
  }

/** POST /v1/events: collects validated events, and responds once they are stored. */
export function postEvents(collect: Collect): RequestHandler {
  return async (request, response) => {
    const { project, receivedAt } = getCollectContext(request)
    if (project === undefined) throw new Error('the route is not behind authentication')
    const { events } = request.body as { readonly events: readonly SentEvent[] }
    const client = readClientInfo(request)
    const accepted = await collect({ projectId: project.id, events, client, receivedAt })
    response.status(202).json(accepted)
  }
}
