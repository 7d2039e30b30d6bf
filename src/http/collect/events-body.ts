/** Reads the body of a request to the collector and normalizes its form. */
import express, { type RequestHandler } from 'express'
import { ApiError, createValidationError } from '../../contract/errors.js'
import { describeJsonError } from '../../lib/json-error.js'
import { EVENT_TYPES, normalizeContentType, parseJson } from '../server/body.js'
import { getCollectContext, type BodyForm } from '../server/request-context.js'
import { requireUtf8 } from '../server/translate-error.js'

/** The bytes of bodies that may be in memory at once, from their arrival until the response. */
const MAX_BYTES_IN_FLIGHT = 128 * 1_048_576

/** The maximum size of a body of events: 1 MB. */
export const MAX_EVENTS_BYTES = 1_048_576

/**
 * Creates the middlewares that parse the body, in order. Behind them `request.body` is `{ token?, events }`, plus any
 * other properties that the client sent. Nothing in it has been validated.
 *
 * @param maxBytesInFlight the bytes of all bodies together; requests beyond get SERVICE_UNAVAILABLE
 */
export const createEventsReader = (
  maxBytesInFlight = MAX_BYTES_IN_FLIGHT,
): readonly RequestHandler[] => [
  normalizeContentType(EVENT_TYPES),
  limitBytesInFlight(maxBytesInFlight),
  express.raw({ limit: MAX_EVENTS_BYTES, inflate: false, type: () => true }),
  (request, _response, next) => {
    const [form, body] = normalizeForm(parseBody(request.body))
    const context = getCollectContext(request)
    context.form = form
    if (Array.isArray(body.events)) context.events = body.events.length
    request.body = body
    next()
  },
]

/** Counts the bytes of all bodies. Must stand directly before the parser of the body, because it starts reading. */
function limitBytesInFlight(maxBytes: number): RequestHandler {
  let inFlight = 0
  return (request, response, next) => {
    if (inFlight >= maxBytes) throw createOverloadedError()
    const context = getCollectContext(request)
    let bytes = 0
    let isRefused = false
    const release = (): void => {
      inFlight -= bytes
      bytes = 0
    }
    request.on('data', ({ length }: Buffer) => {
      if (isRefused) return
      inFlight += length
      bytes += length
      context.bytes = bytes
      if (inFlight <= maxBytes || request.listenerCount('error') === 0) return
      isRefused = true
      release()
      // The parser drops what it has read, and passes the error on.
      request.emit('error', createOverloadedError())
    })
    response.once('close', release)
    next()
  }
}

const createOverloadedError = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'Too many events are arriving. Try again in a moment.')

interface EventsBody {
  readonly token?: unknown
  readonly events?: unknown
}

function parseBody(body: unknown): unknown {
  if (!Buffer.isBuffer(body)) throw createBodyError(describeBroken(''))
  requireUtf8(body)
  try {
    return parseJson(body)
  } catch (cause) {
    throw createBodyError(describeBroken(body.toString('utf8')), cause)
  }
}

const describeBroken = (text: string): string => describeJsonError(text) ?? 'is not valid JSON'

function normalizeForm(body: unknown): readonly [BodyForm, EventsBody] {
  if (Array.isArray(body)) return ['array', { events: body as readonly unknown[] }]
  if (typeof body !== 'object' || body === null) throw createBodyError(NOT_EVENTS)
  if ('events' in body) return ['list', body]
  if (!('token' in body)) return ['event', { events: [body] }]
  const { token, ...event } = body
  return ['event', { token, events: [event] }]
}

const NOT_EVENTS = 'must be an event, an array of events, or an object with a list of events'

const createBodyError = (message: string, cause?: unknown): ApiError =>
  createValidationError([{ field: 'body', message }], cause)
