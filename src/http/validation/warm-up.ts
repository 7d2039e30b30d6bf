/** Asks each operation once before the service listens. */
import type { Express } from 'express'
import { ERROR_STATUS } from '../../contract/errors.js'
import { onOwnPort } from './on-own-port.js'
import type { Method } from '../server/routes.js'
import type { Part } from '../../config/roles.js'

/** The first request of an operation compiles its part of a contract: a broken one shows here. */
const REQUESTS: readonly WarmUpRequest[] = [
  { part: 'api', method: 'get', path: '/v1/project' },
  { part: 'api', method: 'post', path: '/v1/analytics/query', body: '{"date_range":"today"}' },
  { part: 'collector', method: 'post', path: '/v1/events', body: '{"token":"warm-up"}' },
]

interface WarmUpRequest {
  readonly part: Part
  readonly method: Method
  readonly path: string
  readonly body?: string
}

/** A store that is slow or away for now is no reason not to start. */
const WORKS: ReadonlySet<number> = new Set([
  200,
  202,
  ERROR_STATUS.QUERY_TOO_EXPENSIVE,
  ERROR_STATUS.SERVICE_UNAVAILABLE,
  ERROR_STATUS.QUERY_TIMEOUT,
])

/**
 * Sends a request for each operation of these parts.
 *
 * @param app an application whose authentication lets any request pass, and which keeps no events
 * @throws Error when an operation is broken
 */
export async function warmUp(app: Express, parts: ReadonlySet<Part>): Promise<void> {
  await onOwnPort(app, async (address) => {
    for (const { part, method, path, body } of REQUESTS) {
      if (!parts.has(part)) continue
      const response = await fetch(address + path, {
        method,
        headers: { 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      })
      const text = await response.text()
      if (!WORKS.has(response.status)) throw new Error(`${path} does not work: ${text}`)
    }
  })
}
