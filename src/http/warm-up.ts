/** Asks each operation once before the service listens. */
import type { Express } from 'express'
import { ERROR_STATUS } from '../errors.js'
import { onOwnPort } from './on-own-port.js'
import type { Method } from './routes.js'

/** The first request of an operation compiles its part of the contract: a broken one shows here. */
const REQUESTS: readonly { method: Method; path: string; body?: string }[] = [
  { method: 'get', path: '/v1/project' },
  { method: 'post', path: '/v1/analytics/query', body: '{"date_range":"today"}' },
]

/** A store that is slow or away for now is no reason not to start. */
const WORKS: ReadonlySet<number> = new Set([
  200,
  ERROR_STATUS.QUERY_TOO_EXPENSIVE,
  ERROR_STATUS.SERVICE_UNAVAILABLE,
  ERROR_STATUS.QUERY_TIMEOUT,
])

/**
 * Sends a request for each operation.
 *
 * @param app an application whose authentication lets any request pass
 * @throws Error when an operation is broken
 */
export async function warmUp(app: Express): Promise<void> {
  await onOwnPort(app, async (address) => {
    for (const { method, path, body } of REQUESTS) {
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
