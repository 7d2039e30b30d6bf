/** Serves the Model Context Protocol to admin keys: what they may read of management as tools. */
import type { Request, RequestHandler } from 'express'
import { ACROSS } from '../../analytics/across/operation.js'
import { recognizeCredential, parseBearerToken } from '../../contract/bearer.js'
import { createValidationError } from '../../contract/errors.js'
import { mergeDocuments } from '../../contract/merge-documents.js'
import type { Specs } from '../../contract/spec.js'
import type { ToolOutcome } from '../../mcp/call-result.js'
import type { ServerOptions } from '../../mcp/create-server.js'
import { listTools } from '../../mcp/list-tools.js'
import { MANAGEMENT_INSTRUCTIONS, type ToolOperation } from '../../mcp/tools.js'
import { reportFailure } from '../batch/run-endpoint.js'
import { MANAGEMENT_OPERATIONS } from '../management/list.js'
import type {
  ManagementApi,
  ManagementOperation,
  ManagementRequest,
} from '../management/management-api.js'
import { authenticateAdmins, requireEnabled, throwApiError } from '../management/routes.js'
import { checkScope } from '../../auth/check-scope.js'
import { readAuthorization } from '../query/handlers.js'
import { MAX_QUERY_BYTES, readQueryBody } from '../query/query-body.js'
import { limitBodySize } from '../server/body.js'
import { getAdminContext } from '../server/request-context.js'
import type { Handler } from '../server/routes.js'
import { listMarkdownPages } from '../site/docs/build-pages.js'
import { compileBodies, type FindErrors } from '../validation/compile-bodies.js'
import type { Contract } from '../validation/contract.js'
import { prepareDocument } from '../validation/prepare-document.js'
import { MANAGEMENT_TOOLS } from './management-tools.js'
import { answerMessages } from './post-mcp.js'
import { refusePages } from './refuse-pages.js'

/** Leaves a request without an admin key to the next route of its path. */
export const passOtherKeys: RequestHandler = (request, _response, next) => {
  const secret = parseBearerToken(readAuthorization(request)) ?? ''
  if (recognizeCredential(secret) === 'admin key') next()
  else next('route')
}

/**
 * Builds the handlers of POST /mcp for admin keys. A call of a tool has the scopes and the organization of its key, as a request has.
 *
 * @param limit counts the requests of admin keys
 */
export function buildManagementMcp(
  api: ManagementApi,
  contract: Contract,
  limit: RequestHandler,
  stopping: AbortSignal,
): readonly Handler[] {
  const offer = createOffer(contract.specs)
  return [
    refusePages,
    requireEnabled(api),
    authenticateAdmins(api),
    limit,
    limitBodySize(MAX_QUERY_BYTES),
    ...readQueryBody,
    answerMessages(stopping, (request, _response, signal) => {
      const { findErrors, ...listed } = offer()
      return {
        ...listed,
        run: (tool, body) => runTool(api, contract, findErrors, tool, body, { request, signal }),
      }
    }),
  ]
}

interface Offer extends Omit<ServerOptions, 'isStructured' | 'run'> {
  /** Finds what the contract says against the parameters of a tool. */
  readonly findErrors: (name: string) => FindErrors
}

/** Returns a function that lists the tools when they are first asked for: most services have nobody who does. */
function createOffer(specs: Specs): () => Offer {
  let offer: Offer | undefined
  return () => {
    offer ??= buildOffer(specs)
    return offer
  }
}

function buildOffer(specs: Specs): Offer {
  const tools = listTools(mergeDocuments(specs), MANAGEMENT_TOOLS)
  const content = (name: string) => {
    const schema = tools.find((tool) => tool.name === name)?.inputSchema
    return { post: { requestBody: { content: { 'application/json': { schema } } } } }
  }
  const read = MANAGEMENT_TOOLS.filter(({ hasParameters }) => hasParameters)
  const paths = Object.fromEntries(read.map(({ name }) => [name, content(name)]))
  const bodies = compileBodies(prepareDocument({ components: { schemas: {} }, paths } as never))
  return {
    definitions: MANAGEMENT_TOOLS,
    tools,
    instructions: MANAGEMENT_INSTRUCTIONS,
    pages: listMarkdownPages(),
    findErrors: (name) => bodies(name),
  }
}

/** Runs a tool as a request to its operation would. */
async function runTool(
  api: ManagementApi,
  contract: Contract,
  findErrors: Offer['findErrors'],
  { name, parameters }: ToolOperation,
  body: object | undefined,
  { request, signal }: { readonly request: Request; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  try {
    const operation = findOperation(name)
    checkScope('admin key', operation.scope, getAdminContext(request).key.scopes)
    const errors = parameters === undefined ? [] : findErrors(name)(parameters).errors
    if (errors.length > 0) throw createValidationError(errors)
    const valid = parameters === undefined ? contract.validate(ACROSS, body) : undefined
    const asked = {
      ...createRequest(api, operation, parameters ?? {}, valid, { request, signal }),
      validate: contract.validate,
    }
    const { status, body: answer = {} } = await operation.run(api, asked).catch(throwApiError)
    return { status, body: answer }
  } catch (thrown) {
    return reportFailure(thrown, name, { signal, logger: request.log })
  }
}

function findOperation(name: string): ManagementOperation {
  const { method, path } = MANAGEMENT_TOOLS.find((tool) => tool.name === name) ?? {}
  const found = MANAGEMENT_OPERATIONS.find((one) => one.method === method && one.path === path)
  if (found === undefined) throw new Error(`no operation belongs to the tool ${name}`)
  return found
}

function createRequest(
  { cluster, now }: ManagementApi,
  { path }: ManagementOperation,
  parameters: object,
  body: unknown,
  { request, signal }: { readonly request: Request; readonly signal: AbortSignal },
): Omit<ManagementRequest, 'validate'> {
  const { key } = getAdminContext(request)
  const texts = Object.entries(parameters).map(([name, value]) => [name, String(value)] as const)
  const isPlace = ([name]: readonly [string, string]): boolean => path.includes(`{${name}}`)
  return {
    key,
    params: Object.fromEntries(texts.filter(isPlace)),
    query: Object.fromEntries(texts.filter((one) => !isPlace(one))),
    listParameters: () => [],
    body,
    accept: 'application/json',
    ifMatch: undefined,
    ifNoneMatch: undefined,
    asker: { keyId: key.id, requestId: request.id as string, logger: request.log, signal },
    context: { cluster, now, actor: key.id },
    // Tools only read: none receives a file.
    receive: () => Promise.reject(new Error('a tool has no body')),
    once: () => Promise.reject(new Error('a tool changes nothing')),
  }
}
