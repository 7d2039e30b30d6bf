/** Validates requests of the query API: by the schemas of its contract, then by the rules between fields. */
import type { RequestHandler } from 'express'
import { checkDateRange, checkRules } from '../../analytics/request/cross-field-rules.js'
import { findTooDeepFilter } from '../../analytics/request/filter-limits.js'
import { TABLE_TYPES, type AnswerFormat } from '../../contract/answer-formats.js'
import type { AnalyticsQueryRequest, FieldError, ValuesRequest } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import type { SpecDocument } from '../../contract/spec.js'
import { isRecord } from '../../lib/records.js'
import { createCheck, type AddRuleErrors } from './check-request.js'
import { buildUnionMessages } from './union-errors.js'

/**
 * Creates the middleware that validates a request whose body has been parsed. The body of a query becomes an
 * `AnalyticsQueryRequest`, with defaults filled in. An invalid request is passed on as an `ApiError`.
 * Filters that lie too deep in others are refused first, and for that alone.
 */
export function createQueryCheck(
  document: SpecDocument,
  validateSchemas: RequestHandler,
): RequestHandler {
  const check = createCheck(validateSchemas, addRuleErrors, buildUnionMessages(document))
  return (request, response, next) => {
    const tooDeep = findTooDeepFilter(readFilters(request.body))
    if (tooDeep !== undefined) {
      next(createValidationError([tooDeep]))
      return
    }
    if (request.headers['content-type'] !== undefined) request.body = fillGaps(request.body)
    void check(request, response, next)
  }
}

const readFilters = (body: unknown): unknown => (isRecord(body) ? body['filters'] : undefined)

/** Replaces a missing body, so that its missing fields are reported, and omits an empty `metrics`: it means the default. */
function fillGaps(body: unknown = {}): unknown {
  if (!isRecord(body) || !Array.isArray(body['metrics']) || body['metrics'].length > 0) return body
  return omitMetrics(body)
}

const omitMetrics = ({ metrics: _, ...rest }: Readonly<Record<string, unknown>>): object => rest

/** Creates the middleware that validates a request for values in the same way. */
export function createValuesCheck(
  document: SpecDocument,
  validateSchemas: RequestHandler,
): RequestHandler {
  const check = createCheck(validateSchemas, addPeriodErrors, buildUnionMessages(document))
  return (request, response, next) => {
    if (request.headers['content-type'] !== undefined) request.body ??= {}
    void check(request, response, next)
  }
}

const addPeriodErrors: AddRuleErrors = ({ errors, invalidFields }, { body }) =>
  isRecord(body) && !invalidFields.has('date_range')
    ? [...errors, ...checkDateRange(body as unknown as ValuesRequest)]
    : errors

const addRuleErrors: AddRuleErrors = ({ errors, invalidFields }, { body, answerFormat }) =>
  isRecord(body)
    ? [
        ...errors,
        ...checkRules(body as unknown as AnalyticsQueryRequest, invalidFields),
        ...(body['limit'] === 'all' ? checkAll(answerFormat) : []),
      ]
    : errors

/** JSON has no rows before its end, so an answer of any length is not JSON. */
const checkAll = (format: AnswerFormat = 'json'): readonly FieldError[] =>
  format === 'json'
    ? [
        {
          field: 'limit',
          message: `is all, which needs one of these in Accept: ${TABLE_TYPES.join(', ')}`,
        },
      ]
    : []
