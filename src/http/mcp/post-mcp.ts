/** Serves the Model Context Protocol: the operations of the query API as tools of language models, and the documentation as resources. */
import type { RequestHandler } from 'express'
import { isRecord } from '../../lib/records.js'
import { answerMessage, type MessageAnswer } from '../../mcp/answer-message.js'
import { listTools } from '../../mcp/list-tools.js'
import { runOperation, type Operations } from '../batch/run-operation.js'
import { respond } from '../query/api-handlers.js'
import { createOperationContext } from '../query/operation-context.js'
import { createNotJsonObjectError } from '../server/translate-error.js'
import { listMarkdownPages } from '../site/docs/build-pages.js'

/** POST /mcp. One message per request: a call of a tool is one operation, which was counted for the rate limit. */
export function postMcp(operations: Operations, stopping: AbortSignal): RequestHandler {
  const tools = listTools(operations.contract.specs.openapi.document)
  const pages = listMarkdownPages()
  return async (request, response) => {
    const message: unknown = request.body
    if (!isRecord(message)) throw createNotJsonObjectError(JSON.stringify(message))
    const send = ({ status, text }: MessageAnswer): void => {
      response.status(status)
      if (text === '') response.end()
      else response.type('json').send(text)
    }
    await respond(response, stopping, send, async (signal) => {
      const context = createOperationContext(request, signal)
      const answer = await answerMessage(
        {
          tools,
          pages,
          run: ({ name }, body = {}) => runOperation(operations, name, body, context),
        },
        message,
        request.get('MCP-Protocol-Version'),
      )
      signal.throwIfAborted()
      return answer
    })
  }
}
