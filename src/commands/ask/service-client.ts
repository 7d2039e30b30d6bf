/** Asks a running service with an API key. The key is sent to the service and to nobody else. */
import type { ServiceAddress } from '../../config/service-address.js'
import { MEDIA_TYPES } from '../../contract/response-formats.js'
import { UserError } from '../../lib/errors.js'
import { withDeadline } from '../../lib/signals.js'

/** What the service responded. */
export interface ServiceResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The text as JSON; undefined if it is something else. */
  readonly body: unknown
}

interface AskOptions {
  /** The media type of the response; JSON by default. */
  readonly accept?: string
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined
}

/** How long a response may take: a service ends a query after 10 seconds, unless it is configured otherwise. */
const TIMEOUT_MS = 60_000

/**
 * Sends a request to an operation.
 *
 * @param body undefined for GET
 * @throws UserError if there is no response of a service; the message contains neither the key nor the body
 */
export async function askService(
  { url, apiKey }: ServiceAddress,
  path: string,
  body?: unknown,
  { accept = MEDIA_TYPES.json, signal }: AskOptions = {},
): Promise<ServiceResponse> {
  const request = new Request(new URL(path, url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Accept: accept,
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': MEDIA_TYPES.json,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // A redirect would carry the key to another address.
    redirect: 'manual',
  })
  try {
    return await withDeadline(TIMEOUT_MS, signal, async (end) => {
      const response = await fetch(request, { signal: end })
      const { status, headers } = response
      const text = await response.text()
      return { status, headers, text, body: parse(text) }
    })
  } catch (error) {
    throw new UserError(`${url.origin} does not respond: ${describeFailure(error)}`)
  }
}

/** fetch says only that it failed; its cause says why. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
