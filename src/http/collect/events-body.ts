/** Reads the body of a request that brings events, and brings it into one form. */
import express, { type RequestHandler } from 'express'
import { isUtf8 } from 'node:buffer'
import type { ApiError } from '../../contract/errors.js'
import { EVENT_TYPES, normalizeContentType } from '../validation/content-type.js'
import { deliveryOf, type Form } from './collect-context.js'
import { validationError } from '../server/translate-error.js'

/** The most bytes that a body of events may have: 1 MB. */
export const MAX_EVENTS_BYTES = 1_048_576

/**
 * The handlers, in their order. Behind them `req.body` is `{ token?, events }`, or what else the body has
 * instead of the two; none of it is checked.
 */
export const eventsBody: readonly RequestHandler[] = [
  normalizeContentType(EVENT_TYPES),
  express.raw({ limit: MAX_EVENTS_BYTES, inflate: false, type: () => true }),
  (request, _response, next) => {
    const [form, body] = inOneForm(readJson(request.body))
    const delivery = deliveryOf(request)
    delivery.form = form
    if (Array.isArray(body.events)) delivery.events = body.events.length
    request.body = body
    next()
  },
]

interface EventsBody {
  readonly token?: unknown
  readonly events?: unknown
}

function readJson(body: unknown): unknown {
  if (!Buffer.isBuffer(body)) throw faulty(NOT_JSON)
  if (!isUtf8(body)) throw faulty('is not valid UTF-8')
  const text = body.toString('utf8')
  try {
    return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
  } catch (cause) {
    throw faulty(NOT_JSON, cause)
  }
}

function inOneForm(body: unknown): readonly [Form, EventsBody] {
  if (Array.isArray(body)) return ['array', { events: body as readonly unknown[] }]
  if (typeof body !== 'object' || body === null) throw faulty(NOT_EVENTS)
  if ('events' in body) return ['list', body]
  if (!('token' in body)) return ['event', { events: [body] }]
  const { token, ...event } = body
  return ['event', { token, events: [event] }]
}

const BYTE_ORDER_MARK = '\ufeff'
const NOT_JSON = 'is not valid JSON'
const NOT_EVENTS = 'must be an event, an array of events, or an object with a list of events'

const faulty = (message: string, cause?: unknown): ApiError =>
  validationError([{ field: 'body', message }], cause)
