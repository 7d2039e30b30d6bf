/** Asks a running service with an API key. The key is sent to the service and to nobody else. */
import { UserError } from '../../lib/errors.js'
import type { ServiceAddress } from '../../config/service-address.js'

/** What the service responded. */
export interface ServiceResponse {
  readonly status: number
  /** Its body as JSON; undefined if it is something else. */
  readonly body: unknown
  /** The seconds after which to try again, if it said so. */
  readonly retryAfter?: number
}

/** How long a response may take: a service ends a query after 10 seconds, unless it is configured otherwise. */
const TIMEOUT_MS = 60_000

/**
 * Sends a request to an operation.
 *
 * @param body undefined for GET
 * @param signal aborts the request
 * @throws UserError if there is no response of a service; the message contains neither the key nor the body
 */
export async function askService(
  { url, apiKey }: ServiceAddress,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<ServiceResponse> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const request = new Request(new URL(path, url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // A redirect would carry the key to another address.
    redirect: 'manual',
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  })
  try {
    const response = await fetch(request)
    const retryAfter = response.headers.get('Retry-After')
    return {
      status: response.status,
      body: parse(await response.text()),
      ...(retryAfter !== null && { retryAfter: Number(retryAfter) }),
    }
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
