/** One statement to an engine over a connection of its own, for starting, finding and stopping it. */
import http from 'node:http'
import { text } from 'node:stream/consumers'
import type { Account, Endpoint } from '../endpoint.js'

/**
 * Sends a statement and returns the text of the answer. No connection is left behind: an open one
 * would hold up the engine's stop.
 */
export async function sendStatement(
  endpoint: Endpoint,
  account: Account,
  statement: string,
  timeout: number,
): Promise<string> {
  const { username, password } = endpoint.accounts[account]
  const headers = { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password }
  return new Promise((resolve, reject) => {
    http
      .request(endpoint.url, {
        method: 'POST',
        headers,
        agent: false,
        signal: AbortSignal.timeout(timeout),
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
