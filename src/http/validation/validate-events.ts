/** Validates requests that bring events against the collector's contract. */
import type { ErrorRequestHandler, RequestHandler } from 'express'
import * as OpenApiValidator from 'express-openapi-validator'
import type { FieldFault } from '../../contract/api.js'
import { validateEvents } from '../../ingest/collect/validate-events.js'
import { deliveryOf, type Delivery, type Form } from '../collect/collect-context.js'
import { describeFaults, type RawFault } from './validation-errors.js'
import { propertiesOf, type SpecDocument } from '../../contract/spec.js'
import { toApiError, validationError } from '../server/translate-error.js'
import { manyUnknownFields } from './unknown-fields.js'
import { parameterFaults, validator, type ValidationOptions } from './validator.js'

/**
 * The handlers that check a body in the form `{ events }`, in their order. Behind them its events are fit to
 * be loaded; a request with a fault goes on as an `ApiError`.
 */
export const eventsValidation = (
  document: SpecDocument,
  options: ValidationOptions,
): readonly (RequestHandler | ErrorRequestHandler)[] => [
  refuseManyUnknown(propertiesOf(document, 'EventFields')),
  ...validator(document, options),
  applyRules,
  translateFaults,
]

function refuseManyUnknown(fields: readonly string[]): RequestHandler {
  const known = new Set(fields)
  return (request, _response, next) => {
    const { form } = deliveryOf(request)
    const faults = manyUnknownFields(request.body as object, known, (place, field) =>
      nameIn(form, String(place), field),
    )
    next(faults.length === 0 ? undefined : validationError(faults))
  }
}

const applyRules: RequestHandler = (request, _response, next) => {
  const faults = brokenRules(request.body, deliveryOf(request))
  next(faults.length === 0 ? undefined : validationError(faults))
}

const translateFaults: ErrorRequestHandler = (error: unknown, request, _response, next) => {
  if (!(error instanceof OpenApiValidator.error.BadRequest)) {
    next(toApiError(error))
    return
  }
  const delivery = deliveryOf(request)
  next(validationError(allFaults(error.errors, request.body, delivery), error))
}

function allFaults(
  raw: readonly RawFault[],
  body: unknown,
  delivery: Delivery,
): readonly FieldFault[] {
  const parameters = parameterFaults(raw)
  if (parameters.length > 0) return parameters
  const ofSchema = describeFaults(raw, body, {}).map(({ field, message }) => ({
    field: asSent(field, delivery.form),
    message,
  }))
  return [...ofSchema, ...brokenRules(body, delivery)]
}

function brokenRules(body: unknown, { form, receivedAt }: Delivery): readonly FieldFault[] {
  const { events } = body as { readonly events?: unknown }
  if (!Array.isArray(events)) return []
  return validateEvents(events, receivedAt).map(({ index, field, message }) => ({
    field: nameIn(form, String(index), field),
    message,
  }))
}

const PLACED = /^events\.(\d+)(?:\.(.*))?$/s

/** The name of a field of the body as its sender knows it. */
function asSent(field: string, form: Form | undefined): string {
  const [, place, inner] = PLACED.exec(field) ?? []
  if (place !== undefined) return nameIn(form, place, inner)
  return field === 'events' && form !== 'list' ? 'body' : field
}

/** @param field undefined where it is about the event as a whole */
function nameIn(form: Form | undefined, place: string, field: string | undefined): string {
  if (form === 'event') return field ?? 'body'
  return field === undefined ? `[${place}]` : `[${place}].${field}`
}
