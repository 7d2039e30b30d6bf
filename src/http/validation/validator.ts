/** Makes the validator of a contract. */
import type { RequestHandler } from 'express'
import * as OpenApiValidator from 'express-openapi-validator'
import type { FieldFault } from '../../contract/api.js'
import type { RawFault } from './validation-errors.js'
import { FORMATS } from '../../contract/formats.js'
import { forValidator, type SpecDocument } from '../../contract/spec.js'

type ValidatorOptions = Parameters<typeof OpenApiValidator.middleware>[0]

/** What a validator is told besides the contract. */
export interface ValidationOptions {
  /** Whether a response that breaks the contract becomes INTERNAL_ERROR: for tests, development. */
  readonly validateResponses: boolean
}

/** The handlers that check a request whose body is read, and on wish its response. */
export const validator = (
  document: SpecDocument,
  { validateResponses }: ValidationOptions,
): readonly RequestHandler[] =>
  OpenApiValidator.middleware({
    apiSpec: forValidator(document) as ValidatorOptions['apiSpec'],
    formats: FORMATS,
    validateRequests: { allErrors: true },
    validateResponses,
    validateSecurity: false,
    fileUploader: false,
  })

const QUERY = '/query/'

/** The faults that are about the query string of the address. */
export const parameterFaults = (raw: readonly RawFault[]): readonly FieldFault[] =>
  raw
    .filter(({ path }) => path.startsWith(QUERY))
    .map(({ path }) => ({
      field: path.slice(QUERY.length),
      message: 'is not a known query parameter',
    }))
