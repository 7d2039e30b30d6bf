/** Validates requests to the collector: by the schemas of its contract, then by the rules for events. */
import type { RequestHandler } from 'express'
import type { FieldError } from '../../contract/api.js'
import { listProperties, type SpecDocument } from '../../contract/spec.js'
import { validateEvents } from '../../ingest/collect/event-rules.js'
import { isRecord } from '../../lib/records.js'
import { getCollectContext, nameField, type BodyForm } from '../server/request-context.js'
import { createValidationError } from '../../contract/errors.js'
import { createCheck, type AddRuleErrors } from './check-request.js'
import type { FindErrors } from './compile-bodies.js'

/** Up to this many unknown fields are left to the validator, which reports all other errors as well. */
const MAX_UNKNOWN_FIELDS = 100

interface EventsBody {
  readonly events?: unknown
}

/**
 * Creates the middleware that validates a body of the form `{ events }`. Behind it the events can be stored.
 * An invalid request is passed on as an `ApiError`.
 */
export function createEventsCheck(
  document: SpecDocument,
  validator: RequestHandler,
  findErrors: FindErrors,
): RequestHandler {
  const known = new Set(listProperties(document, 'EventFields'))
  const check = createCheck(validator, findErrors, addRuleErrors)
  return (request, response, next) => {
    const { form } = getCollectContext(request)
    const unknown = listUnknownFields(request.body as EventsBody, known, form)
    // Ajv is slow at reporting thousands of unknown fields, so they are rejected before it sees them.
    if (unknown.length > MAX_UNKNOWN_FIELDS) next(createValidationError(unknown))
    else void check(request, response, next)
  }
}

function listUnknownFields(
  body: EventsBody,
  known: ReadonlySet<string>,
  form: BodyForm | undefined,
): readonly FieldError[] {
  const fields = Object.keys(body).filter((name) => name !== 'events')
  for (const [index, event] of listEvents(body).entries()) {
    if (!isRecord(event)) continue
    for (const name of Object.keys(event)) {
      if (!known.has(name)) fields.push(nameField(form, index, name))
    }
  }
  return fields.map((field) => ({ field, message: 'is not a known property' }))
}

const listEvents = ({ events }: EventsBody): readonly unknown[] =>
  Array.isArray(events) ? events : []

const addRuleErrors: AddRuleErrors = ({ errors }, request) => {
  const { form, timestamps } = getCollectContext(request)
  const ruleErrors = validateEvents(listEvents(request.body as EventsBody), timestamps)
  return [
    ...errors.map(({ field, message }) => ({ field: translateField(field, form), message })),
    ...ruleErrors.map(({ index, field, message }) => ({
      field: nameField(form, index, field),
      message,
    })),
  ]
}

const EVENT_FIELD = /^events\.(\d+)(?:\.(.*))?$/s

/** Translates a field of the normalized body to the form that the client sent. */
function translateField(field: string, form: BodyForm | undefined): string {
  const [, index, inner] = EVENT_FIELD.exec(field) ?? []
  if (index !== undefined) return nameField(form, Number(index), inner)
  return field === 'events' && form !== 'list' ? 'body' : field
}
