/** Validates batches: their form, and that their ids differ. Each query is validated on its own when it is answered. */
import type { RequestHandler } from 'express'
import type { BatchRequest, FieldError } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import { isRecord } from '../../lib/records.js'
import { createCheck } from './check-request.js'
import type { FindErrors } from './compile-bodies.js'
import type { BodyErrors } from './error-messages.js'

/** Creates the middleware that validates a batch whose body has been parsed. */
export function createBatchCheck(
  validator: RequestHandler,
  findErrors: FindErrors,
): RequestHandler {
  const check = createCheck(validator, findErrors, (found, { body }) => addIdErrors(found, body))
  return (request, response, next) => {
    request.body ??= {}
    void check(request, response, next)
  }
}

/** Validates the body of a batch that did not come as a request of its own. @throws ApiError VALIDATION_ERROR */
export function validateBatch(findErrors: FindErrors, body: object): BatchRequest {
  const errors = addIdErrors(findErrors(body), body)
  if (errors.length > 0) throw createValidationError(errors)
  return body as BatchRequest
}

const addIdErrors = (
  { errors, invalidFields }: BodyErrors,
  body: unknown,
): readonly FieldError[] =>
  isRecord(body) && Array.isArray(body['queries']) && !invalidFields.has('queries')
    ? [...errors, ...findRepeatedIds(body['queries'])]
    : errors

function findRepeatedIds(queries: readonly { readonly id: string }[]): readonly FieldError[] {
  const seen = new Set<string>()
  return queries.flatMap(({ id }, i) => {
    const isRepeated = seen.has(id)
    seen.add(id)
    return isRepeated
      ? [{ field: `queries.${i}.id`, message: 'is the id of another query of the batch' }]
      : []
  })
}
