/** Validates requests to the collector: by the schemas of its contract, then by the rules for events. */
import type { RequestHandler } from 'express'
import type { FieldError } from '../../contract/api.js'
import { listProperties, type SpecDocument } from '../../contract/spec.js'
import { validateEvents } from '../../ingest/collect/validate-events.js'
import { getCollectContext, type BodyForm, type CollectContext } from '../server/request-context.js'
import { validationError } from '../server/translate-error.js'
import { describeErrors } from './validation-errors.js'

/** Up to this many unknown fields are left to the validator, which reports all other errors as well. */
const MAX_UNKNOWN_FIELDS = 100

/**
 * Creates the middleware that validates a body of the form `{ events }`. Behind it the events can be stored;
 * an invalid request is passed on as an `ApiError`.
 */
export function createEventsCheck(
  document: SpecDocument,
  validateSchemas: RequestHandler,
): RequestHandler {
  const known = new Set(listProperties(document, 'EventFields'))
  return (request, response, next) => {
    const context = getCollectContext(request)
    const body = request.body as EventsBody
    const unknown = listUnknownFields(body, known, context.form)
    // Ajv is slow at reporting thousands of unknown fields, so they are refused before it sees them.
    if (unknown.length > MAX_UNKNOWN_FIELDS) {
      next(validationError(unknown))
      return
    }
    validateSchemas(request, response, (error?: unknown) => {
      const errors =
        error === undefined ? checkRules(body, context) : listErrors(error, body, context)
      if (errors === undefined) next(error)
      else if (errors.length === 0) next()
      else next(validationError(errors, error))
    })
  }
}

interface EventsBody {
  readonly events?: unknown
}

function listUnknownFields(
  body: EventsBody,
  known: ReadonlySet<string>,
  form: BodyForm | undefined,
): readonly FieldError[] {
  const fields = Object.keys(body).filter((name) => name !== 'events')
  const { events } = body
  if (Array.isArray(events)) {
    for (const [place, event] of (events as readonly unknown[]).entries()) {
      if (typeof event !== 'object' || event === null || Array.isArray(event)) continue
      for (const name of Object.keys(event)) {
        if (!known.has(name)) fields.push(nameField(form, place, name))
      }
    }
  }
  return fields.map((field) => ({ field, message: 'is not a known property' }))
}

/** The errors of the schemas and of the rules; undefined for an unexpected error. */
function listErrors(
  error: unknown,
  body: EventsBody,
  context: CollectContext,
): readonly FieldError[] | undefined {
  const described = describeErrors(error, body)
  if (described === undefined) return undefined
  if (described.inQueryString) return described.errors
  const errors = described.errors.map(({ field, message }) => ({
    field: translateField(field, context.form),
    message,
  }))
  return [...errors, ...checkRules(body, context)]
}

function checkRules(
  { events }: EventsBody,
  { form, receivedAt }: CollectContext,
): readonly FieldError[] {
  if (!Array.isArray(events)) return []
  return validateEvents(events, receivedAt).map(({ index, field, message }) => ({
    field: nameField(form, index, field),
    message,
  }))
}

const EVENT_FIELD = /^events\.(\d+)(?:\.(.*))?$/s

/** From a field of the normalized body to the name that fits the form the client sent. */
function translateField(field: string, form: BodyForm | undefined): string {
  const [, place, inner] = EVENT_FIELD.exec(field) ?? []
  if (place !== undefined) return nameField(form, Number(place), inner)
  return field === 'events' && form !== 'list' ? 'body' : field
}

/** @param field undefined for an error about the event as a whole */
function nameField(form: BodyForm | undefined, place: number, field: string | undefined): string {
  if (form === 'event') return field ?? 'body'
  return field === undefined ? `[${place}]` : `[${place}].${field}`
}
