/** The first and last handlers of POST /v1/events, and its preflight. */
import type { RequestHandler } from 'express'
import type { Accepted, SentEvent } from '../../contract/collector-api.js'
import { createValidationError, type ApiError } from '../../contract/errors.js'
import { EventTooLargeError, type Collect, type Collected } from '../../ingest/collect/collect.js'
import { findTimestampWindow } from '../../ingest/collect/event-rules.js'
import { getCollectContext, nameField, type BodyForm } from '../server/request-context.js'
import { readClientInfo } from './read-client-info.js'

/** Lets pages of any origin read the response, errors included. */
export const allowAnyOrigin: RequestHandler = (_request, response, next) => {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Access-Control-Expose-Headers', 'Retry-After, Tally-Excluded, X-Request-Id')
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

/** Sets `request.collectContext` with the request's time of arrival. Browsers send `Origin`, servers do not. */
export const beginCollect =
  (now: () => Date, maxEventAgeDays: number): RequestHandler =>
  (request, _response, next) => {
    const receivedAt = now()
    const isPage = request.headers.origin !== undefined
    const timestamps = findTimestampWindow(receivedAt, isPage ? 'page' : maxEventAgeDays)
    request.collectContext = { receivedAt, isPage, timestamps }
    next()
  }

/** POST /v1/events: collects validated events, and responds once they are stored. */
export function postEvents(collect: Collect): RequestHandler {
  return async (request, response) => {
    const { project, receivedAt, isPage, form } = getCollectContext(request)
    if (project === undefined) throw new Error('the route is not behind authentication')
    const { events } = request.body as { readonly events: readonly SentEvent[] }
    const client = { ...readClientInfo(request), isPage }
    const collected = await collect({ project, events, client, receivedAt }).catch(
      (error: unknown) => {
        throw error instanceof EventTooLargeError ? describeTooLarge(error, form) : error
      },
    )
    if (collected.bots > 0) response.setHeader('Tally-Excluded', `bots=${collected.bots}`)
    response.status(202).json(describeAccepted(collected, form))
  }
}

/** As many as a list of the contract has. */
const MAX_WARNINGS = 100

const BOT_WITHOUT_USER =
  "is missing, and the User-Agent of the request is a bot's, so the event is not counted; " +
  'send user_id, or the ip and user_agent of the user'

/** Builds the response: the number of events alone, unless some of them will not be counted. */
function describeAccepted(
  { accepted, bots, withoutUser }: Collected,
  form: BodyForm | undefined,
): Accepted {
  if (bots === 0) return { accepted }
  const warnings = withoutUser.slice(0, MAX_WARNINGS).map((index) => ({
    field: nameField(form, index, 'user_agent'),
    message: BOT_WITHOUT_USER,
  }))
  return { accepted, excluded: { bots }, ...(warnings.length === 0 ? {} : { warnings }) }
}

const describeTooLarge = (
  { indexes, message }: EventTooLargeError,
  form: BodyForm | undefined,
): ApiError =>
  createValidationError(indexes.map((index) => ({ field: nameField(form, index), message })))
