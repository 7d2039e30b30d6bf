/** Sends single statements to an engine, to start, find and stop it. */
import http from 'node:http'
import { text } from 'node:stream/consumers'
import type { Account, Endpoint } from '../endpoint.js'

/**
 * Sends a statement over a new connection and returns the text of the response. The connection is closed, since
 * an open one would delay the engine's stop.
 *
 * @throws Error when the engine does not answer within `timeoutMs` or reports an error
 */
export async function sendStatement(
  endpoint: Endpoint,
  account: Account,
  statement: string,
  timeoutMs: number,
): Promise<string> {
  const { username, password } = endpoint.accounts[account]
  const headers = { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password }
  return new Promise((resolve, reject) => {
    http
      .request(endpoint.url, {
        method: 'POST',
        headers,
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
      })
      .on('error', reject)
      .on('response', (response) => {
        text(response).then((body) => {
          if (response.statusCode === 200) resolve(body)
          else reject(new Error(`the engine answered ${response.statusCode ?? 0}: ${body.trim()}`))
        }, reject)
      })
      .end(statement)
  })
}
