/** The Express layer of validation: express-openapi-validator, as one middleware per contract. */
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import * as OpenApiValidator from 'express-openapi-validator'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FieldError } from '../../contract/api.js'
import { FORMATS } from '../../contract/formats.js'
import { mapRecord } from '../../lib/records.js'

type Json = Readonly<Record<string, unknown>>
type ValidatorOptions = Parameters<typeof OpenApiValidator.middleware>[0]

export interface ValidationOptions {
  /** Whether a response that violates the contract becomes INTERNAL_ERROR: for tests and development. */
  readonly validateResponses: boolean
}

/**
 * Creates the middleware that validates requests whose bodies have been parsed, and their responses if wanted. The
 * first request makes the library read the contract: a process does without those that nobody asks.
 *
 * @param prepared the contract as validators take it
 */
export function createValidator(prepared: Json, options: ValidationOptions): RequestHandler {
  let validator: RequestHandler | undefined
  return (request, response, next) => {
    validator ??= readContract(prepared, options)
    void validator(request, response, next)
  }
}

function readContract(prepared: Json, { validateResponses }: ValidationOptions): RequestHandler {
  const document = validateResponses ? prepared : omitResponses(prepared)
  const handlers = OpenApiValidator.middleware({
    apiSpec: document as unknown as ValidatorOptions['apiSpec'],
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

/** Leaves out the responses of all operations, which take about a fifth of the time of reading. */
function omitResponses({ paths, ...document }: Json): Json {
  const bare = mapRecord(paths as Readonly<Record<string, Json>>, (_, methods) =>
    mapRecord(methods as Readonly<Record<string, Json>>, (_method, operation) => ({
      ...operation,
      responses: {},
    })),
  )
  return { ...document, paths: bare }
}

/** Where the validator finds parameters. */
const PARAMETER = /^\/(?:query|params|headers)\/(?<name>.+)$/

const UNKNOWN = 'is not a known query parameter'

/** Returns the errors of the parameters if the validator has refused a request; undefined for any other error. */
export function listParameterErrors(error: unknown): readonly FieldError[] | undefined {
  if (!(error instanceof OpenApiValidator.error.BadRequest)) return undefined
  return error.errors.flatMap(({ path, message }) => {
    const field = PARAMETER.exec(path)?.groups?.['name']
    if (field === undefined) return []
    const isUnknown = message.startsWith('Unknown query parameter')
    return [{ field, message: isUnknown ? UNKNOWN : message.replace(/\.$/, '') }]
  })
}

/**
 * Makes a validator compile the schemas of an operation, which it does at the first request: sends one through an Express
 * app of its own. It has no connection, and need not be valid.
 *
 * @throws Error naming the operation, if its schemas do not compile
 */
export function compile(validator: RequestHandler, method: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const handleError: ErrorRequestHandler = (cause: Error, _request, _response, _next) => {
      if (listParameterErrors(cause) !== undefined) resolve()
      const message = `the contract of ${method} ${path} cannot be compiled: ${cause.message}`
      reject(new Error(message, { cause }))
    }
    const app = express()
    app.use(validator, () => resolve(), handleError)
    const request = new IncomingMessage(new Socket())
    const headers = method === 'POST' ? { 'content-type': 'application/json' } : {}
    app(
      Object.assign(request, { method, url: path, headers, body: {} }),
      new ServerResponse(request),
    )
  })
}
