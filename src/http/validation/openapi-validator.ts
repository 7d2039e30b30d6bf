/**
 * Runs express-openapi-validator as a function.
 *
 * Its only public interface is a list of Express middlewares. They need nothing of Express but what
 * `buildRequest` provides, so the same compiled validator serves real requests and single bodies, without a
 * server. Ajv compiles the schemas of an operation at its first request, so `compile` sends one at start.
 */
import type { Request, RequestHandler, Response } from 'express'
import * as OpenApiValidator from 'express-openapi-validator'
import { FORMATS } from '../../contract/formats.js'
import type { SpecDocument } from '../../contract/spec.js'
import { prepareDocument } from './prepare-document.js'

type ValidatorOptions = Parameters<typeof OpenApiValidator.middleware>[0]

export interface ValidationOptions {
  /** Whether a response that violates the contract becomes INTERNAL_ERROR: for tests and development. */
  readonly validateResponses: boolean
}

/** A request to an operation of a contract. */
export interface OperationRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Undefined for an operation without a body. */
  readonly body?: unknown
}

/** A valid request to an operation, and a valid response. */
export interface OperationExample extends OperationRequest {
  readonly response: { readonly status: number; readonly body: unknown }
}

/**
 * Creates the middleware that validates requests whose bodies have been parsed, and their responses if wanted. The
 * first request prepares the contract: a process does without those that nobody asks.
 */
export function createValidator(
  document: SpecDocument,
  options: ValidationOptions,
): RequestHandler {
  let validator: RequestHandler | undefined
  return (request, response, next) => {
    validator ??= prepareValidator(document, options)
    void validator(request, response, next)
  }
}

function prepareValidator(
  document: SpecDocument,
  { validateResponses }: ValidationOptions,
): RequestHandler {
  const handlers = OpenApiValidator.middleware({
    apiSpec: prepareDocument(document) as ValidatorOptions['apiSpec'],
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

/**
 * Compiles the schemas of an operation by validating an example.
 *
 * @throws Error naming the operation, if its schemas do not compile or do not accept the example
 */
export async function compile(validator: RequestHandler, example: OperationExample): Promise<void> {
  try {
    await validate(validator, example)
  } catch (cause) {
    const { method, path } = example
    const { message } = cause as Error
    throw new Error(`the contract of ${method} ${path} cannot be compiled: ${message}`, { cause })
  }
}

/**
 * Sends a request through a validating middleware and, if one is given, the response back.
 *
 * @returns the body of the request with its defaults filled in
 * @throws the error that the middleware reports
 */
export function validate(
  middleware: RequestHandler,
  { response, ...sent }: OperationRequest & Partial<OperationExample>,
): Promise<unknown> {
  const request = buildRequest(sent)
  return new Promise((resolve, reject) => {
    const resolveBody = (): void => resolve(request.body)
    const target = buildResponse(response?.status ?? 200, resolveBody)
    void middleware(request, target, (error?: unknown) => {
      if (error !== undefined) reject(toError(error))
      else if (response === undefined) resolveBody()
      else target.json(response.body)
    })
  })
}

const toError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown))

/** Builds a request with the properties that express-openapi-validator 5.6 reads. */
const buildRequest = ({ method, path, body }: OperationRequest): Request =>
  ({
    method,
    path,
    url: path,
    originalUrl: path,
    baseUrl: '',
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    params: {},
    query: {},
    body,
    app: { enabled: () => true },
  }) as unknown as Request

/** Builds a response with the properties that it reads. The validator calls `onValid` with a valid body. */
const buildResponse = (statusCode: number, onValid: () => void): Response =>
  ({ statusCode, headersSent: false, getHeaders: () => ({}), json: onValid }) as unknown as Response
