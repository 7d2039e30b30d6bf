/** Validates requests in two steps: by the schemas of a contract, then by rules that schemas cannot express. */
import type { Request, RequestHandler } from 'express'
import type { FieldError } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import type { UnionMessages } from './union-errors.js'
import { describeErrors, type RequestErrors } from './error-messages.js'

/**
 * Returns all errors of a request: those that the schemas found, plus those of the rules. `request.body` may be
 * invalid; fields that are not in `invalidFields` are as the rules expect them, with their defaults.
 */
export type AddRuleErrors = (found: RequestErrors, request: Request) => readonly FieldError[]

const NO_ERRORS: RequestErrors = { errors: [], invalidFields: new Set(), inQueryString: false }

/** Creates a middleware that calls `next` with an `ApiError` if the request is invalid. */
export const createCheck =
  (
    validateSchemas: RequestHandler,
    addRuleErrors: AddRuleErrors = ({ errors }) => errors,
    unions: UnionMessages = {},
  ): RequestHandler =>
  (request, response, next) =>
    validateSchemas(request, response, (error?: unknown) => {
      const found = error === undefined ? NO_ERRORS : describeErrors(error, request.body, unions)
      if (found === undefined) {
        next(error)
        return
      }
      const errors = found.inQueryString ? found.errors : addRuleErrors(found, request)
      next(errors.length === 0 ? undefined : createValidationError(errors, error))
    })
