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

/** An operation of a contract, with a valid request body and response to compile it with. */
export interface Operation {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Undefined for an operation without a body. */
  readonly body?: unknown
  readonly response: { readonly status: number; readonly body: unknown }
}

/** Creates the middleware that validates requests whose bodies have been parsed, and their responses if wanted. */
export function createValidator(
  document: SpecDocument,
  { validateResponses }: ValidationOptions,
): RequestHandler {
  const handlers = OpenApiValidator.middleware({
    apiSpec: prepareDocument(document) as ValidatorOptions['apiSpec'],
    formats: FORMATS,
    validateRequests: { allErrors: true },
    validateResponses,
    validateSecurity: false,
    fileUploader: false,
  }) as readonly RequestHandler[]
  return (request, response, next) => runFrom(0, handlers, request, response, next)
}

/** Runs handlers in order. An error found in the response calls `next` a second time, as it does in Express. */
function runFrom(
  index: number,
  handlers: readonly RequestHandler[],
  request: Request,
  response: Response,
  next: (error?: unknown) => void,
): void {
  const handler = handlers[index]
  if (handler === undefined) {
    next()
    return
  }
  void handler(request, response, (error?: unknown) => {
    if (error === undefined) runFrom(index + 1, handlers, request, response, next)
    else next(error)
  })
}

/**
 * Sends a body through a validating middleware.
 *
 * @param prepare sets what earlier middlewares would have set on the request
 * @returns the body with its defaults filled in
 * @throws the error that the middleware reports
 */
export function validateBody(
  middleware: RequestHandler,
  { method, path, body }: Pick<Operation, 'method' | 'path' | 'body'>,
  prepare: (request: Request) => void = () => undefined,
): Promise<unknown> {
  const request = buildRequest(method, path, body)
  prepare(request)
  return new Promise((resolve, reject) => {
    void middleware(request, buildResponse(), (error?: unknown) => {
      if (error === undefined) resolve(request.body)
      else reject(toError(error))
    })
  })
}

/**
 * Compiles the schemas of an operation by validating its examples.
 *
 * @throws Error naming the operation, if its schemas do not compile or do not accept the examples
 */
export async function compile(validator: RequestHandler, operation: Operation): Promise<void> {
  const { method, path, body, response } = operation
  try {
    await new Promise<void>((resolve, reject) => {
      const sent = buildResponse(response.status, resolve)
      void validator(buildRequest(method, path, body), sent, (error?: unknown) => {
        if (error === undefined) sent.json(response.body)
        else reject(toError(error))
      })
    })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`the contract of ${method} ${path} cannot be compiled: ${reason}`, { cause })
  }
}

const toError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown))

/** A request with the properties that express-openapi-validator 5.6 reads. */
const buildRequest = (method: string, path: string, body: unknown): Request =>
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

/** A response with the properties that it reads. `onSent` is called once the body has passed. */
const buildResponse = (statusCode = 200, onSent: () => void = () => undefined): Response =>
  ({ statusCode, headersSent: false, getHeaders: () => ({}), json: onSent }) as unknown as Response
