/** Validates requests of operations beside the query: by the schemas of their contract, then by rules of their own. */
import type { RequestHandler } from 'express'
import { applyRules, type Rule } from '../../analytics/request/cross-field-rules.js'
import type { FieldError } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import type { SpecDocument } from '../../contract/spec.js'
import { isRecord } from '../../lib/records.js'
import { createCheck } from './check-request.js'
import { buildUnionMessages } from './union-errors.js'

/**
 * Creates the middleware that validates the requests of an operation.
 *
 * @param findTooDeep finds filters that lie too deep in others: a body that has them is refused for that alone, since schemas
 *   call a function for each level
 */
export function createOperationCheck<Body>(
  document: SpecDocument,
  validateSchemas: RequestHandler,
  rules: readonly Rule<Body>[],
  findTooDeep: (body: Readonly<Record<string, unknown>>) => FieldError | undefined,
): RequestHandler {
  const check = createCheck(
    validateSchemas,
    ({ errors, invalidFields }, { body }) =>
      isRecord(body) ? [...errors, ...applyRules(rules, body as Body, invalidFields)] : errors,
    buildUnionMessages(document),
  )
  return (request, response, next) => {
    const body: unknown = request.body
    const tooDeep = isRecord(body) ? findTooDeep(body) : undefined
    if (tooDeep !== undefined) {
      next(createValidationError([tooDeep]))
      return
    }
    // The missing fields of a missing body are reported.
    if (request.headers['content-type'] !== undefined) request.body ??= {}
    void check(request, response, next)
  }
}
