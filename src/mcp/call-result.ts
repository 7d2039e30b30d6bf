/** Turns the outcome of an operation into the result of a call. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

/** What an operation responds: its status, its body, and when to try again. */
export interface ToolOutcome {
  readonly status: number
  readonly body: object
  /** Seconds. */
  readonly retry_after?: number
}

/** The first version of the protocol whose results have structured content. */
const STRUCTURED_SINCE = '2025-06-18'

/** Whether clients of a version of the protocol, such as `2025-11-25`, read structured content. */
export const readsStructured = (version: string): boolean => version >= STRUCTURED_SINCE

/**
 * Builds the result of a call. The body is in it once: as structured content or, for clients that do not read it, as text. An error of
 * the operation is a result as well, always as text, so that the model reads it.
 */
export function buildCallResult(
  { status, body, retry_after }: ToolOutcome,
  isStructured: boolean,
): CallToolResult {
  if (status !== 200) {
    const error = retry_after === undefined ? body : { ...body, retry_after }
    return { content: [toText(JSON.stringify(error))], isError: true }
  }
  return isStructured
    ? { content: [toText(POINTER)], structuredContent: body as Record<string, unknown> }
    : { content: [toText(JSON.stringify(body))] }
}

const POINTER = 'The result is the structured content.'

const toText = (text: string): { type: 'text'; text: string } => ({ type: 'text', text })
