/** Asks each operation once before the service listens. */
import type { Express } from 'express'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ERROR_STATUS } from '../errors.js'
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
 * Sends a request for each operation over a port of this machine that nobody else knows.
 *
 * @param app an application whose authentication lets any request pass
 * @throws Error when an operation is broken
 */
export async function warmUp(app: Express): Promise<void> {
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    for (const { method, path, body } of REQUESTS) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      })
      const text = await response.text()
      if (!WORKS.has(response.status)) throw new Error(`${path} does not work: ${text}`)
    }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
