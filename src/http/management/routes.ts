/** Builds the routes of management: authenticates a request, validates it, runs its operation, and sends the response. */
import type { Request, RequestHandler, Response } from 'express'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ApiError, createValidationError } from '../../contract/errors.js'
import { recognizeCredential, parseBearerToken } from '../../contract/bearer.js'
import {
  ConflictError,
  FieldValueError,
  isSystemError,
  MissingError,
  UserError,
} from '../../lib/errors.js'
import type { AdminKey } from '../../auth/admin-keys.js'
import { abortOnDisconnect } from '../server/abort-on-disconnect.js'
import { limitBodySize } from '../server/body.js'
import { treatHeadAsGet } from '../server/http-conformance.js'
import type { Handler, RouteTable } from '../server/routes.js'
import { checkScope } from '../../auth/check-scope.js'
import { readAuthorization, type Authenticate } from '../query/handlers.js'
import { MAX_QUERY_BYTES, readJsonBody } from '../query/query-body.js'
import { limitRequests } from '../query/rate-limit.js'
import type { Contract } from '../validation/contract.js'
import { getAdminContext } from '../server/request-context.js'
import { runOnce } from './idempotency.js'
import { MANAGEMENT_OPERATIONS } from './list.js'
import type {
  ManagementApi,
  ManagementOperation,
  ManagementRequest,
  ManagementResponse,
  RunRequest,
} from './management-api.js'
import { prepareUpload, receiveUpload } from './receive-upload.js'

/** Counts the requests of each admin key. */
export const limitAdmins = ({ rateLimit }: Pick<ManagementApi, 'rateLimit'>): RequestHandler =>
  limitRequests({
    perMinute: rateLimit,
    name: 'key',
    identify: (request) => getAdminContext(request).key.id,
    message: 'The admin key has exceeded its number of requests per minute.',
  })

/**
 * @param limit counts the requests of admin keys
 * @param stopping is aborted when pending requests are given up
 * @param authenticateKey finds API keys of projects, for the operations that they may call; left out where none is served
 */
export function buildManagementRoutes(
  api: ManagementApi,
  contract: Contract,
  limit: RequestHandler,
  stopping: AbortSignal,
  authenticateKey?: Authenticate,
): RouteTable {
  return buildRoutes(MANAGEMENT_OPERATIONS, requireEnabled(api), {
    ...{ api, contract, limit, stopping, authenticateKey },
  })
}

/** Builds the routes of what API keys of projects may read, for a port that does not serve management. Parameters as above. */
export const buildProjectKeyRoutes = (
  api: ManagementApi,
  contract: Contract,
  limit: RequestHandler,
  stopping: AbortSignal,
  authenticateKey: Authenticate,
): RouteTable =>
  buildRoutes(
    MANAGEMENT_OPERATIONS.filter(({ isForProjectKeys }) => isForProjectKeys === true),
    (request, _response, next) => next(bearsApiKey(request) ? undefined : createNothingHereError()),
    { api, contract, limit, stopping, authenticateKey },
  )

interface RouteParts {
  readonly api: ManagementApi
  readonly contract: Contract
  readonly limit: RequestHandler
  readonly stopping: AbortSignal
  readonly authenticateKey: Authenticate | undefined
}

/** @param isServed refuses requests that are not served here */
function buildRoutes(
  operations: readonly ManagementOperation[],
  isServed: RequestHandler,
  { api, contract, limit, stopping, authenticateKey }: RouteParts,
): RouteTable {
  const routes: Record<string, Record<string, readonly Handler[]>> = {}
  for (const operation of operations) {
    const { method, path, checkedAs } = operation
    const methods = (routes[toExpressPath(path)] ??= {})
    methods[method] = [
      takesProjectKey(operation, authenticateKey) ? unless(bearsApiKey, isServed) : isServed,
      authenticate(api, operation, authenticateKey),
      limit,
      requireAdminScope(operation),
      ...readBody(operation),
      checkedAs === undefined ? contract.checkManagement(method, path) : contract.check(checkedAs),
      answer(api, operation, contract, stopping),
    ]
  }
  return routes
}

const toExpressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** Whether API keys of projects may send it: also while there is no admin key. */
const takesProjectKey = (
  { isForProjectKeys }: Pick<ManagementOperation, 'isForProjectKeys'>,
  authenticateKey: Authenticate | undefined,
): authenticateKey is Authenticate => isForProjectKeys === true && authenticateKey !== undefined

const bearsApiKey = (request: Request): boolean =>
  recognizeCredential(parseBearerToken(readAuthorization(request)) ?? '') === 'API key'

/** Skips a handler for some requests. */
const unless =
  (isSkipped: (request: Request) => boolean, handler: RequestHandler): RequestHandler =>
  (request, response, next) =>
    isSkipped(request) ? next() : handler(request, response, next)

const createNothingHereError = (): ApiError =>
  new ApiError('NOT_FOUND', 'There is nothing at this path.')

/** Without any admin key, nothing is here. */
export const requireEnabled =
  ({ admins }: ManagementApi): RequestHandler =>
  async (_request, _response, next) => {
    if (!(await admins.isEnabled())) throw createNothingHereError()
    next()
  }

/** Sets `request.adminContext` from an admin key. */
export const authenticateAdmins = (api: ManagementApi): RequestHandler =>
  authenticate(api, {}, undefined)

/** Sets `request.adminContext`. */
function authenticate(
  { admins }: ManagementApi,
  operation: Pick<ManagementOperation, 'isForProjectKeys'>,
  authenticateKey: Authenticate | undefined,
): RequestHandler {
  return async (request, _response, next) => {
    const header = readAuthorization(request)
    const secret = parseBearerToken(header) ?? ''
    const key =
      takesProjectKey(operation, authenticateKey) && bearsApiKey(request)
        ? await findProjectKey(authenticateKey, header, request.params['id'])
        : await admins.authenticate(header)
    request.adminContext = { key, secret }
    next()
  }
}

/** Returns an API key of a project as a key that may read this project. */
async function findProjectKey(
  authenticateKey: Authenticate,
  header: string | undefined,
  id: unknown,
): Promise<AdminKey> {
  const { principal, project } = await authenticateKey(header)
  if (project.id !== id) throw new ApiError('NOT_FOUND', `There is no project ${String(id)}.`)
  return {
    id: principal.keyId,
    name: '',
    scopes: ['projects:read'],
    org: project.org,
    createdAt: project.createdAt,
    expiresAt: null,
    revokedAt: null,
  }
}

const requireAdminScope =
  ({ scope }: ManagementOperation): RequestHandler =>
  (request, _response, next) => {
    checkScope('admin key', scope, getAdminContext(request).key.scopes)
    next()
  }

/** Parses the body of an operation that has one. A body of another operation is not read. */
function readBody({
  method,
  isUpload,
  maxBytes = MAX_QUERY_BYTES,
}: ManagementOperation): readonly Handler[] {
  if (method === 'get') return [treatHeadAsGet, limitBodySize(MAX_QUERY_BYTES)]
  if (method === 'delete') return [limitBodySize(0)]
  if (isUpload === true) return [limitBodySize(maxBytes), prepareUpload]
  return [limitBodySize(maxBytes), ...readJsonBody(maxBytes)]
}

/** Runs an operation, once for an `Idempotency-Key`, and sends its response. */
const answer =
  (
    api: ManagementApi,
    operation: ManagementOperation,
    { validate }: Contract,
    stopping: AbortSignal,
  ): RequestHandler =>
  async (request, response) => {
    const signal = abortOnDisconnect(response, stopping)
    const idempotencyKey = operation.method === 'post' ? request.get('Idempotency-Key') : undefined
    const { secret } = getAdminContext(request)
    const target = request.originalUrl
    const once = (one: ManagementRequest, run: RunRequest): Promise<ManagementResponse> =>
      idempotencyKey === undefined
        ? run(one)
        : runOnce(run, one, { idempotencyKey, secret, target })
    const asked: ManagementRequest = {
      ...readRequest(api, request, signal),
      validate,
      receive: receiveUpload(request, response, api.uploads, signal),
      once: (body, run) => once({ ...asked, body }, run),
    }
    const run = (one: ManagementRequest): Promise<ManagementResponse> => operation.run(api, one)
    const sent = await (operation.isUpload === true ? run(asked) : once(asked, run)).catch(
      throwApiError,
    )
    await send(response, sent)
  }

/** Reads a request that is authenticated and valid. */
function readRequest(
  api: ManagementApi,
  request: Request,
  signal: AbortSignal,
): Omit<ManagementRequest, 'once' | 'receive' | 'validate'> {
  const { key } = getAdminContext(request)
  const { cluster, now } = api
  return {
    key,
    params: request.params as Readonly<Record<string, string>>,
    query: mapQuery(request.query),
    listParameters: (name) =>
      new URL(request.originalUrl, 'http://service').searchParams.getAll(name),
    body: request.body as unknown,
    accept:
      request.accepts(['application/json', 'text/csv']) === 'text/csv'
        ? 'text/csv'
        : 'application/json',
    ifMatch: request.get('If-Match'),
    ifNoneMatch: request.get('If-None-Match'),
    asker: { keyId: key.id, requestId: request.id as string, logger: request.log, signal },
    context: { cluster, now, actor: key.id },
  }
}

async function send(response: Response, sent: ManagementResponse): Promise<void> {
  response.status(sent.status).set(sent.headers ?? {})
  if (sent.stream !== undefined) await sendStream(response, sent.stream)
  else if (sent.text !== undefined) response.send(sent.text)
  else if (sent.body === undefined) response.end()
  else response.json(sent.body)
}

async function sendStream(response: Response, stream: AsyncIterable<Buffer>): Promise<void> {
  try {
    await pipeline(Readable.from(stream), response)
  } catch (error) {
    // The client has left.
    if (!isSystemError(error, 'ERR_STREAM_PREMATURE_CLOSE')) throw error
  }
}

const mapQuery = (query: object): ManagementRequest['query'] =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]: [string, unknown]) => [name, String(value)]),
  )

/** Throws the error of a use case as the error that is sent. */
export function throwApiError(error: unknown): never {
  if (!(error instanceof UserError)) throw error
  const message = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`
  if (error instanceof FieldValueError) {
    const detail = { field: error.field, message: `is not valid: ${error.message}` }
    throw createValidationError([detail], error)
  }
  if (error instanceof MissingError) throw new ApiError('NOT_FOUND', message, { cause: error })
  const code = error instanceof ConflictError ? 'CONFLICT' : 'SERVICE_UNAVAILABLE'
  throw new ApiError(code, message, { cause: error })
}
