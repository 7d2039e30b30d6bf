/** Checks requests: that the schemas of a contract accept them, then by the rules that schemas cannot express. */
import type { Request, RequestHandler } from 'express'
import type { AnyOperation } from '../../analytics/operation.js'
import type { FieldError } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import type { FindErrors } from './compile-bodies.js'
import type { BodyErrors } from './error-messages.js'
import { listParameterErrors } from './express-validator.js'
import { addOperationErrors, normalizeBody } from './validate-body.js'

/**
 * Returns all errors of a request: those that the schemas found, plus those of the rules. `request.body` may be
 * invalid; fields that are not in `invalidFields` are as the rules expect them, with their defaults.
 */
export type AddRuleErrors = (found: BodyErrors, request: Request) => readonly FieldError[]

const NO_ERRORS: BodyErrors = { errors: [], invalidFields: new Set() }

/**
 * Creates a middleware that calls `next` with an `ApiError` if the request is invalid.
 *
 * @param validator decides whether the schemas accept a request
 * @param findErrors says what they do not accept in its body
 */
export const createCheck =
  (
    validator: RequestHandler,
    findErrors: FindErrors = () => NO_ERRORS,
    addRuleErrors: AddRuleErrors = ({ errors }) => errors,
  ): RequestHandler =>
  (request, response, next) =>
    validator(request, response, (error?: unknown) => {
      const inQueryString = error === undefined ? [] : listParameterErrors(error)
      const isBody = inQueryString?.length === 0
      const found = error !== undefined && isBody ? findErrors(request.body) : NO_ERRORS
      // An error that is not about the request is passed on, and so is one that the body does not explain.
      const isExplained = error === undefined || found.errors.length > 0
      const errors = isExplained ? addRuleErrors(found, request) : (inQueryString ?? [])
      next(errors.length === 0 ? error : createValidationError(errors, error))
    })

/**
 * Creates the middleware that checks the requests of an operation, whose bodies have been parsed. Behind it a body has the
 * type of the contract, with defaults filled in.
 */
export function createOperationCheck(
  operation: AnyOperation,
  validator: RequestHandler,
  findErrors: FindErrors,
): RequestHandler {
  const check = createCheck(validator, findErrors, (found, { body, responseFormat = 'json' }) =>
    addOperationErrors(operation, found, body, responseFormat),
  )
  return (request, response, next) => {
    request.body = normalizeBody(operation, request.body, request.authContext?.project)
    void check(request, response, next)
  }
}
