/** Creates the server of one connection of the protocol. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { readVersion } from '../lib/version.js'
import { buildCallResult, type ToolOutcome } from './call-result.js'
import { chooseOperation } from './choose-operation.js'
import { listPages, readPage, type PageResource } from './pages.js'
import type { ToolDefinition, ToolOperation } from './tools.js'

/**
 * Runs the operation of a tool.
 *
 * @param body undefined if the operation has none
 * @param signal aborts when the client has cancelled the call
 * @throws Error if there is no outcome: the call then fails with an error of the protocol
 */
export type RunTool = (
  operation: ToolOperation,
  body: Readonly<Record<string, unknown>> | undefined,
  signal: AbortSignal,
) => Promise<ToolOutcome>

/** What a server is made of. */
export interface ServerOptions {
  readonly definitions: readonly ToolDefinition[]
  /** The tools as the protocol describes them. */
  readonly tools: readonly Tool[]
  /** What models are told about all tools. */
  readonly instructions: string
  /** The documentation. */
  readonly pages: readonly PageResource[]
  readonly run: RunTool
  /** Whether the client reads structured content. */
  readonly isStructured: boolean
}

// Takes a while to create, and is shared: servers only need one to ask clients for input, which these never do.
const VALIDATOR = new AjvJsonSchemaValidator()
const INFO = { name: 'tallyhouse', title: 'Tallyhouse', version: readVersion() }

/** Creates a server. The caller connects it, once, and closes it. */
// eslint-disable-next-line @typescript-eslint/no-deprecated -- the other class needs a copy of each schema in zod
export function createServer(options: ServerOptions): Server {
  const { definitions, tools, instructions, pages, run, isStructured } = options
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
  const server = new Server(INFO, {
    capabilities: { tools: {}, resources: {} },
    instructions,
    jsonSchemaValidator: VALIDATOR,
  })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools] }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: body = {} } = params
    const tool = definitions.find((definition) => definition.name === name)
    if (tool === undefined) {
      const names = definitions.map((definition) => definition.name).join(', ')
      throw new McpError(ErrorCode.InvalidParams, `The tool must be one of: ${names}.`)
    }
    const call = chooseOperation(tool, body)
    if ('refused' in call) return buildCallResult(call.refused, isStructured)
    const outcome = await run(call.chosen.operation, call.chosen.body, signal)
    return buildCallResult(outcome, isStructured)
  })
  addPages(server, pages)
  return server
}

// eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
function addPages(server: Server, pages: readonly PageResource[]): void {
  const resources = listPages(pages)
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources }))
  // Clients ask for these as well when a server has resources.
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [] }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => readPage(pages, params.uri))
}
