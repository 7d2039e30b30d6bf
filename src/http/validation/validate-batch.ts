/** Validates batches: their form, and that their ids differ. Each query is validated on its own when it is answered. */
import type { RequestHandler } from 'express'
import type { FieldError } from '../../contract/api.js'
import { isRecord } from '../../lib/records.js'
import { createCheck, type AddRuleErrors } from './check-request.js'
import type { FindErrors } from './compile-bodies.js'

/** Creates the middleware that validates a batch whose body has been parsed. */
export function createBatchCheck(
  validator: RequestHandler,
  findErrors: FindErrors,
): RequestHandler {
  const check = createCheck(validator, findErrors, addIdErrors)
  return (request, response, next) => {
    request.body ??= {}
    void check(request, response, next)
  }
}

const addIdErrors: AddRuleErrors = ({ errors, invalidFields }, { body }) =>
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
