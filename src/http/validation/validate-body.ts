/** Validates bodies for operations: by the schemas of the contract, then by the rules between fields. */
import type { AnyBody, OperationBase, ValidBody } from '../../analytics/operation.js'
import { applyRules } from '../../analytics/request/cross-field-rules.js'
import { fillInZone, type ZonedProject } from '../../analytics/request/default-zone.js'
import { findTooDeepFilter } from '../../analytics/request/filter-limits.js'
import type { ResponseFormat } from '../../contract/response-formats.js'
import type { FieldError } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import type { SpecDocument } from '../../contract/spec.js'
import { isRecord } from '../../lib/records.js'
import { compileBodies, type Bodies } from './compile-bodies.js'
import type { BodyErrors } from './error-messages.js'
import { replaceObjectForms } from './object-forms.js'
import { prepareDocument } from './prepare-document.js'
import { buildUnionMessages } from './union-errors.js'

/**
 * Validates a body for an operation, and fills in its defaults.
 *
 * @param project the one that it is about
 * @throws ApiError VALIDATION_ERROR with the errors that a request with this body would get
 */
export type ValidateBody = <Body>(
  operation: OperationBase<Body>,
  body: unknown,
  project?: ZonedProject,
) => Body

/** Creates the function. @param bodies those of the contract; `compileOperationBodies` compiles them */
export const createValidateBody =
  (bodies: Bodies): ValidateBody =>
  <Body>(operation: OperationBase<Body>, original: unknown, project?: ZonedProject) => {
    const body = normalizeBody(operation, original, project)
    const found = bodies(operation.path)(body)
    const errors = addOperationErrors(operation, found, body, 'json')
    if (errors.length > 0) throw createValidationError(errors)
    return body as Body
  }

/** Compiles the bodies of the query API. @param prepared the contract as validators take it */
export const compileOperationBodies = (
  document: SpecDocument,
  prepared: object = prepareDocument(document),
): Bodies => compileBodies(prepared, buildUnionMessages(document))

/**
 * Replaces bodies and members that mean the same as missing ones, and fills in the defaults of the project.
 *
 * @throws ApiError VALIDATION_ERROR for filters that lie too deep in others, which schemas are not to see
 */
export function normalizeBody(
  operation: OperationBase<ValidBody>,
  body: unknown,
  project: ZonedProject | undefined,
): unknown {
  const tooDeep = isRecord(body) ? findTooDeep(operation, body) : undefined
  if (tooDeep !== undefined) throw createValidationError([tooDeep])
  return fillInZone(operation, operation.normalize?.(body ?? {}) ?? body ?? {}, project)
}

/** Finds the first filter of a body that lies too deep in others. */
const findTooDeep = (operation: OperationBase<ValidBody>, body: AnyBody): FieldError | undefined =>
  operation.findTooDeep === undefined
    ? findTooDeepFilter(body['filters'])
    : operation.findTooDeep(body)

/**
 * Returns the errors that the schemas have found in a body, and those that the rules of an operation find. Replaces the object
 * forms in the body.
 */
export function addOperationErrors(
  operation: OperationBase<ValidBody>,
  { errors, invalidFields }: BodyErrors,
  body: unknown,
  format: ResponseFormat,
): readonly FieldError[] {
  if (!isRecord(body)) return errors
  const nameAsWritten = replaceObjectForms(body, invalidFields)
  return [
    ...errors,
    ...applyRules(operation.rules, body as ValidBody, invalidFields).map(nameAsWritten),
    ...(operation.checkFormat?.(body, format) ?? []),
  ]
}
