/** Serves the Model Context Protocol: the operations of the query API as tools of language models, and the documentation as resources. */
import type { Request, RequestHandler, Response } from 'express'
import { isRecord } from '../../lib/records.js'
import { answerMessage } from '../../mcp/answer-message.js'
import type { ServerOptions } from '../../mcp/create-server.js'
import { listTools } from '../../mcp/list-tools.js'
import { INSTRUCTIONS } from '../../mcp/tools.js'
import { countQueries, runBatch } from '../batch/post-batch.js'
import { runEndpoint, type Endpoints } from '../batch/run-endpoint.js'
import { createRequestContext } from '../query/context.js'
import { handleUntilStop } from '../query/handlers.js'
import { createNotJsonObjectError } from '../server/translate-error.js'
import { listMarkdownPages } from '../site/docs/build-pages.js'
import { chooseTools } from './tools.js'

/**
 * POST /mcp, or `/mcp?explain=true` for a model that is to see plans as well. One message per request: a call of a tool is one operation,
 * which was counted for the rate limit.
 *
 * @param limit counts the further queries of a batch
 */
export function postMcp(
  endpoints: Endpoints,
  limit: RequestHandler,
  stopping: AbortSignal,
): RequestHandler {
  const offer = (withExplain: boolean) => {
    const definitions = chooseTools(withExplain)
    const tools = listTools(endpoints.contract.specs.openapi.document, definitions)
    return { definitions, tools, instructions: INSTRUCTIONS }
  }
  const plain = offer(false)
  const explaining = offer(true)
  const pages = listMarkdownPages()
  return answerMessages(stopping, (request, response, signal) => {
    const context = createRequestContext(request, signal)
    return {
      ...(request.query['explain'] === 'true' ? explaining : plain),
      pages,
      run: ({ name }, body = {}) =>
        name === 'batch'
          ? runBatch(endpoints, body, context, (count) =>
              countQueries(limit, request, response, count),
            )
          : runEndpoint(endpoints, name, body, context),
    }
  })
}

/** Answers a message per request. @param open returns what the server of a request is made of */
export const answerMessages = (
  stopping: AbortSignal,
  open: (
    request: Request,
    response: Response,
    signal: AbortSignal,
  ) => Omit<ServerOptions, 'isStructured'>,
): RequestHandler =>
  handleUntilStop(stopping, async (request, response, signal) => {
    const message: unknown = request.body
    if (!isRecord(message)) throw createNotJsonObjectError(JSON.stringify(message))
    const { status, text } = await answerMessage(
      open(request, response, signal),
      message,
      request.get('MCP-Protocol-Version'),
    )
    signal.throwIfAborted()
    response.status(status)
    if (text === '') response.end()
    else response.type('json').send(text)
  })
