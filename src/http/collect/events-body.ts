/** Reads the body of a request to the collector and normalizes its form. */
import express, { type RequestHandler } from 'express'
import { isUtf8 } from 'node:buffer'
import type { ApiError } from '../../contract/errors.js'
import { EVENT_TYPES, normalizeContentType, parseJson } from '../server/body.js'
import { getCollectContext, type BodyForm } from '../server/request-context.js'
import { createValidationError } from '../server/translate-error.js'

/** The maximum size of a body of events: 1 MB. */
export const MAX_EVENTS_BYTES = 1_048_576

/**
 * The middlewares that parse the body, in order. Behind them `request.body` is `{ token?, events }`, plus any
 * other properties that the client sent. Nothing in it has been validated.
 */
export const readEventsBody: readonly RequestHandler[] = [
  normalizeContentType(EVENT_TYPES),
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

interface EventsBody {
  readonly token?: unknown
  readonly events?: unknown
}

function parseBody(body: unknown): unknown {
  if (!Buffer.isBuffer(body)) throw createBodyError(NOT_JSON)
  if (!isUtf8(body)) throw createBodyError('is not valid UTF-8')
  try {
    return parseJson(body)
  } catch (cause) {
    throw createBodyError(NOT_JSON, cause)
  }
}

function normalizeForm(body: unknown): readonly [BodyForm, EventsBody] {
  if (Array.isArray(body)) return ['array', { events: body as readonly unknown[] }]
  if (typeof body !== 'object' || body === null) throw createBodyError(NOT_EVENTS)
  if ('events' in body) return ['list', body]
  if (!('token' in body)) return ['event', { events: [body] }]
  const { token, ...event } = body
  return ['event', { token, events: [event] }]
}

const NOT_JSON = 'is not valid JSON'
const NOT_EVENTS = 'must be an event, an array of events, or an object with a list of events'

const createBodyError = (message: string, cause?: unknown): ApiError =>
  createValidationError([{ field: 'body', message }], cause)
