/** Validates questions, and on wish their answers, against the contract. */
import express from 'express'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import * as OpenApiValidator from 'express-openapi-validator'
import { checkRules } from '../../analytics/request/validate.js'
import type { AnalyticsQueryRequest, FieldFault } from '../../contract/api.js'
import { choiceHints, type ChoiceHints } from './union-errors.js'
import { normalizeContentType, QUESTION_TYPES } from './content-type.js'
import { describeFaults, faultyFields, type RawFault } from './validation-errors.js'
import type { SpecDocument } from '../../contract/spec.js'
import { toApiError, validationError } from '../server/translate-error.js'
import { parameterFaults, validator, type ValidationOptions } from './validator.js'

/** The most bytes a request body may have: 64 kB. */
export const MAX_BODY_BYTES = 65_536

/**
 * The handlers that read the body of a question and check it, in their order. Behind them `req.body`
 * of a query is an `AnalyticsQueryRequest`; a request with a fault goes on as an `ApiError`.
 */
export function validation(
  document: SpecDocument,
  options: ValidationOptions,
): readonly (RequestHandler | ErrorRequestHandler)[] {
  return [
    normalizeContentType(QUESTION_TYPES),
    express.json({ limit: MAX_BODY_BYTES, inflate: false, strict: true }),
    readGapsAsDefaults,
    ...validator(document, options),
    applyRules,
    translateFaults(choiceHints(document)),
  ]
}

/** An empty body lacks fields, which are then named; an empty list of metrics means the default. */
const readGapsAsDefaults: RequestHandler = (req, _res, next) => {
  if (req.headers['content-type'] !== undefined) req.body ??= {}
  const body: unknown = req.body
  if (isRecord(body) && Array.isArray(body['metrics']) && body['metrics'].length === 0) {
    delete body['metrics']
  }
  next()
}

const applyRules: RequestHandler = (req, _res, next) => {
  const faults = req.body === undefined ? [] : checkRules(req.body as AnalyticsQueryRequest)
  next(faults.length === 0 ? undefined : validationError(faults))
}

const translateFaults =
  (hints: ChoiceHints): ErrorRequestHandler =>
  (error: unknown, req, _res, next) => {
    if (!(error instanceof OpenApiValidator.error.BadRequest)) {
      next(toApiError(error))
      return
    }
    next(validationError(allFaults(error.errors, req.body, hints), error))
  }

/** The faults of the schema, and those of the rules whose fields have none. */
function allFaults(
  raw: readonly RawFault[],
  body: unknown,
  hints: ChoiceHints,
): readonly FieldFault[] {
  const parameters = parameterFaults(raw)
  if (parameters.length > 0) return parameters
  const faults = describeFaults(raw, body, hints)
  if (!isRecord(body)) return faults
  // The fields without a fault are as the rules expect them: checked, and with their defaults.
  return [...faults, ...checkRules(body as unknown as AnalyticsQueryRequest, faultyFields(raw))]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
