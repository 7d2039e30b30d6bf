/** The handler of POST /v1/events: from checked events to the answer. */
import type { RequestHandler } from 'express'
import type { SentEvent } from '../../contract/collector-api.js'
import type { Collect } from '../../ingest/collect/collect.js'
import { deliveryOf } from './collect-context.js'
import { senderOf } from './client-info.js'

/** POST /v1/events */
export function postEvents(collect: Collect): RequestHandler {
  return async (request, response) => {
    const { project, receivedAt } = deliveryOf(request)
    if (project === undefined) throw new Error('the route is not behind authentication')
    const { events } = request.body as { readonly events: readonly SentEvent[] }
    const client = senderOf(request)
    const accepted = await collect({ projectId: project.id, events, client, receivedAt })
    response.status(202).json(accepted)
  }
}
