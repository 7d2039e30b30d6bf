/** Validates requests of the query API: by the schemas of its contract, then by the rules between fields. */
import type { RequestHandler } from 'express'
import type { AnyBody, AnyOperation, ValidBody } from '../../analytics/operation.js'
import { applyRules } from '../../analytics/request/cross-field-rules.js'
import { findTooDeepFilter } from '../../analytics/request/filter-limits.js'
import type { FieldError } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import type { SpecDocument } from '../../contract/spec.js'
import { isRecord } from '../../lib/records.js'
import { createCheck } from './check-request.js'
import { buildUnionMessages } from './union-errors.js'

/**
 * Creates the middleware that validates the requests of an operation, whose bodies have been parsed. Behind it a body has the type
 * of the contract, with defaults filled in. An invalid request is passed on as an `ApiError`.
 */
export function createOperationCheck(
  document: SpecDocument,
  validateSchemas: RequestHandler,
  operation: AnyOperation,
): RequestHandler {
  const check = createCheck(
    validateSchemas,
    ({ errors, invalidFields }, request) => {
      const body: unknown = request.body
      if (!isRecord(body)) return errors
      const broken = applyRules(operation.rules, body as ValidBody, invalidFields)
      return [
        ...errors,
        ...broken,
        ...(operation.checkFormat?.(body, request.answerFormat ?? 'json') ?? []),
      ]
    },
    buildUnionMessages(document),
  )
  return (request, response, next) => {
    const body: unknown = request.body
    const tooDeep = isRecord(body) ? findTooDeep(operation, body) : undefined
    if (tooDeep !== undefined) {
      next(createValidationError([tooDeep]))
      return
    }
    // The missing fields of a missing body are reported.
    if (request.headers['content-type'] !== undefined) {
      request.body = operation.normalize?.(body ?? {}) ?? body ?? {}
    }
    void check(request, response, next)
  }
}

/** Finds the first filter of a body that lies too deep in others. */
const findTooDeep = (operation: AnyOperation, body: AnyBody): FieldError | undefined =>
  operation.findTooDeep === undefined
    ? findTooDeepFilter(body['filters'])
    : operation.findTooDeep(body)
