/** Validates requests of the query API: by the schemas of its contract, then by the rules between fields. */
import type { RequestHandler } from 'express'
import { checkRules } from '../../analytics/request/validate.js'
import type { AnalyticsQueryRequest, FieldError } from '../../contract/api.js'
import type { SpecDocument } from '../../contract/spec.js'
import { validationError } from '../server/translate-error.js'
import { buildUnionMessages, type UnionMessages } from './union-errors.js'
import { describeErrors } from './validation-errors.js'

/**
 * Creates the middleware that validates a request whose body has been parsed. The body of a query becomes an
 * `AnalyticsQueryRequest`, with defaults filled in; an invalid request is passed on as an `ApiError`.
 */
export function createQueryCheck(
  document: SpecDocument,
  validateSchemas: RequestHandler,
): RequestHandler {
  const unions = buildUnionMessages(document)
  return (request, response, next) => {
    if (request.headers['content-type'] !== undefined) request.body = fillGaps(request.body)
    validateSchemas(request, response, (error?: unknown) => {
      const body: unknown = request.body
      const errors = error === undefined ? checkBody(body) : listErrors(error, body, unions)
      if (errors === undefined) next(error)
      else if (errors.length === 0) next()
      else next(validationError(errors, error))
    })
  }
}

/** An empty body lacks fields, which are then reported; an empty list of metrics means the default. */
function fillGaps(body: unknown = {}): unknown {
  if (!isRecord(body) || !Array.isArray(body['metrics']) || body['metrics'].length > 0) return body
  return omitMetrics(body)
}

const omitMetrics = ({ metrics: _, ...rest }: Record<string, unknown>): object => rest

const checkBody = (body: unknown): readonly FieldError[] =>
  body === undefined ? [] : checkRules(body as AnalyticsQueryRequest)

/** The errors of the schemas, and of those rules whose fields are valid; undefined for an unexpected error. */
function listErrors(
  error: unknown,
  body: unknown,
  unions: UnionMessages,
): readonly FieldError[] | undefined {
  const described = describeErrors(error, body, unions)
  if (described === undefined) return undefined
  const { errors, invalidFields, inQueryString } = described
  if (inQueryString || !isRecord(body)) return errors
  // Valid fields are as the rules expect them: checked, and with their defaults.
  return [...errors, ...checkRules(body as unknown as AnalyticsQueryRequest, invalidFields)]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
