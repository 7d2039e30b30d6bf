/** Turns the outcome of an operation into the result of a call. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

/** What an operation responds: its status, its body, and when to try again. */
export interface ToolOutcome {
  readonly status: number
  readonly body: object
  /** Seconds. */
  readonly retry_after?: number
}

/**
 * Builds the result of a call. An error of the operation is a result as well, so that the model reads it: it has the body of the
 * error, but no structured content, whose schema is that of responses.
 */
export function buildCallResult({ status, body, retry_after }: ToolOutcome): CallToolResult {
  if (status === 200) {
    return { content: [formatText(body)], structuredContent: body as Record<string, unknown> }
  }
  const error = retry_after === undefined ? body : { ...body, retry_after }
  return { content: [formatText(error)], isError: true }
}

const formatText = (body: object): { type: 'text'; text: string } => ({
  type: 'text',
  text: JSON.stringify(body),
})
