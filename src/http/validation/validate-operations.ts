/** Validates requests of the query API: by the schemas of its contract, then by the rules between fields. */
import type { Request, RequestHandler } from 'express'
import { applyRules, type Rule } from '../../analytics/request/cross-field-rules.js'
import { findTooDeepFilter } from '../../analytics/request/filter-limits.js'
import type { FieldError } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import type { SpecDocument } from '../../contract/spec.js'
import { isRecord } from '../../lib/records.js'
import { createCheck } from './check-request.js'
import { buildUnionMessages } from './union-errors.js'

/** What is checked of the requests of an operation beside their schemas. `Body` is a body that its schema accepts. */
export interface OperationChecks<Body> {
  readonly rules: readonly Rule<Body>[]
  /**
   * Finds filters that lie too deep in others: a body that has them is refused first, and for that alone, since schemas call a
   * function for each level. Absent: the operation has no filters.
   */
  readonly findTooDeep?: (body: Readonly<Record<string, unknown>>) => FieldError | undefined
  /** Replaces what means the same as a member that is missing. The body may be anything. */
  readonly normalize?: (body: unknown) => unknown
  /** Finds the errors of a body together with the headers. */
  readonly checkHeaders?: (
    body: Readonly<Record<string, unknown>>,
    request: Request,
  ) => readonly FieldError[]
}

/** Finds the first filter of a body that lies too deep in others, where all are in `filters`. */
export const findTooDeep = ({
  filters,
}: Readonly<Record<string, unknown>>): FieldError | undefined => findTooDeepFilter(filters)

/**
 * Creates the middleware that validates the requests of an operation, whose bodies have been parsed. Behind it a body has the type
 * of the contract, with defaults filled in. An invalid request is passed on as an `ApiError`.
 */
export function createOperationCheck<Body>(
  document: SpecDocument,
  validateSchemas: RequestHandler,
  { rules, findTooDeep, normalize, checkHeaders }: OperationChecks<Body>,
): RequestHandler {
  const check = createCheck(
    validateSchemas,
    ({ errors, invalidFields }, request) => {
      const body: unknown = request.body
      if (!isRecord(body)) return errors
      const broken = applyRules(rules, body as Body, invalidFields)
      return [...errors, ...broken, ...(checkHeaders?.(body, request) ?? [])]
    },
    buildUnionMessages(document),
  )
  return (request, response, next) => {
    const body: unknown = request.body
    const tooDeep = isRecord(body) ? findTooDeep?.(body) : undefined
    if (tooDeep !== undefined) {
      next(createValidationError([tooDeep]))
      return
    }
    // The missing fields of a missing body are reported.
    if (request.headers['content-type'] !== undefined) {
      request.body = normalize === undefined ? (body ?? {}) : normalize(body ?? {})
    }
    void check(request, response, next)
  }
}
