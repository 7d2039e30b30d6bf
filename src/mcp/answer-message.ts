/** Answers one message of the protocol that came over HTTP (Streamable HTTP, without sessions and without streams). */
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { readsStructured } from './call-result.js'
import { createServer, type ServerOptions } from './create-server.js'

/** The response to a message. */
interface MessageResponse {
  readonly status: number
  /** JSON, or empty: notifications get no response. */
  readonly text: string
}

/** The transport checks these; the service has checked them already, and responses are always JSON. */
const HEADERS = {
  Accept: 'application/json, text/event-stream',
  'Content-Type': 'application/json',
}

/**
 * Answers a message.
 *
 * @param message any JSON object
 * @param version the header MCP-Protocol-Version; undefined if it was not sent
 */
export async function answerMessage(
  options: Omit<ServerOptions, 'isStructured'>,
  message: object,
  version: string | undefined,
): Promise<MessageResponse> {
  // Without the header it is the version before the header existed.
  const isStructured = version !== undefined && readsStructured(version)
  const server = createServer({ ...options, isStructured })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    const headers = {
      ...HEADERS,
      ...(version !== undefined && { 'MCP-Protocol-Version': version }),
    }
    const request = new Request('http://localhost/mcp', { method: 'POST', headers })
    const response = await transport.handleRequest(request, { parsedBody: message })
    return { status: response.status, text: await response.text() }
  } finally {
    await server.close()
  }
}
