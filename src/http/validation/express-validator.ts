/** The Express layer of validation: express-openapi-validator, as one middleware per contract. */
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import * as OpenApiValidator from 'express-openapi-validator'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FieldError } from '../../contract/api.js'
import { FORMATS } from '../../contract/formats.js'

type ValidatorOptions = Parameters<typeof OpenApiValidator.middleware>[0]

export interface ValidationOptions {
  /** Whether a response that violates the contract becomes INTERNAL_ERROR: for tests and development. */
  readonly validateResponses: boolean
}

/** A valid request to an operation, and a valid response. */
export interface OperationExample {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Undefined for an operation without a body. */
  readonly body?: unknown
  readonly response: { readonly status: number; readonly body: unknown }
}

/**
 * Creates the middleware that validates requests whose bodies have been parsed, and their responses if wanted. The
 * first request prepares the contract: a process does without those that nobody asks.
 *
 * @param prepare returns the contract as validators take it
 */
export function createValidator(prepare: () => object, options: ValidationOptions): RequestHandler {
  let validator: RequestHandler | undefined
  return (request, response, next) => {
    validator ??= prepareValidator(prepare(), options)
    void validator(request, response, next)
  }
}

function prepareValidator(
  document: object,
  { validateResponses }: ValidationOptions,
): RequestHandler {
  const handlers = OpenApiValidator.middleware({
    apiSpec: document as ValidatorOptions['apiSpec'],
    // The contracts are part of the package, and linted against the schema of OpenAPI.
    validateApiSpec: false,
    formats: FORMATS,
    validateRequests: { allErrors: true },
    validateResponses,
    validateSecurity: false,
    fileUploader: false,
  }) as readonly RequestHandler[]
  // An error found in the response calls the outermost `next` a second time, as it does in Express.
  return handlers.reduceRight<RequestHandler>(
    (rest, handler) => (request, response, next) => {
      void handler(request, response, (error?: unknown) => {
        if (error === undefined) void rest(request, response, next)
        else next(error)
      })
    },
    (_request, _response, next) => next(),
  )
}

const QUERY_STRING = '/query/'

/** Returns the errors of the query string if the validator has refused a request; undefined for any other error. */
export function listParameterErrors(error: unknown): readonly FieldError[] | undefined {
  if (!(error instanceof OpenApiValidator.error.BadRequest)) return undefined
  return error.errors
    .filter(({ path }) => path.startsWith(QUERY_STRING))
    .map(({ path }) => ({
      field: path.slice(QUERY_STRING.length),
      message: 'is not a known query parameter',
    }))
}

/**
 * Makes a validator compile the schemas of an operation, which it does at the first request: handles the example in an
 * Express app of its own, as a request without a connection.
 *
 * @throws Error naming the operation, if its schemas do not compile or do not accept the example
 */
export function compile(
  validator: RequestHandler,
  { method, path, body, response }: OperationExample,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const handleError: ErrorRequestHandler = (cause: Error, _request, _response, _next) => {
      const message = `the contract of ${method} ${path} cannot be compiled: ${cause.message}`
      reject(new Error(message, { cause }))
    }
    const app = express()
    app.use(validator, (_request, sent) => {
      sent.status(response.status).json(response.body)
      resolve()
    })
    app.use(handleError)
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const request = new IncomingMessage(new Socket())
    app(Object.assign(request, { method, url: path, headers, body }), new ServerResponse(request))
  })
}
