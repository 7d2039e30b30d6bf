/** Runs the service as it is deployed, and asks it over HTTP with a key. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AnalyticsQueryResponse } from '../../src/contract/api.js'
import { issueKey } from '../../src/auth/api-keys.js'
import { openSigningKey } from '../../src/auth/signing-key.js'
import type { Store } from '../../src/clickhouse/store.js'
import { packagePath } from '../../src/lib/package-path.js'

const TWO_DAYS = 2 * 86_400_000

export interface RunningService {
  readonly address: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** Starts the service in a process of its own, with an engine of its own. */
export async function serve(dataDir: string): Promise<RunningService> {
  const child = spawn(process.execPath, [packagePath('dist/cli.js'), 'serve'], {
    env: {
      PATH: process.env['PATH'],
      DATA_DIR: dataDir,
      PORT: '0',
      NODE_ENV: 'production',
      RATE_LIMIT: '0',
      // What takes long is to be measured, not to be refused.
      QUERY_TIMEOUT_MS: '60000',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const address = await new Promise<string>((resolve, reject) => {
    let log = ''
    child.stdout.on('data', (data: Buffer) => {
      if (log.length > 10_000) return
      log += data.toString()
      const found = /"address":"([^"]+)"/.exec(log)?.[1]
      if (found !== undefined) resolve(found)
    })
    void exit.then(() => reject(new Error(`the service did not start: ${log}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exit
  }
  return { address, pid: child.pid!, stop }
}

/** Issues a key for a project, which lasts for the run. */
export async function issueToken(
  store: Store,
  dataDir: string,
  projectId: string,
  now: Date,
): Promise<string> {
  const key = { projectId, name: 'bench', expiresAt: new Date(now.getTime() + TWO_DAYS) }
  const { token } = await issueKey(store, await openSigningKey(dataDir), key, now)
  return token
}

/** Asks with the body of a request. */
export type Ask = (body: string) => Promise<AnalyticsQueryResponse>

/** Asks over one connection that stays open, with the HTTP client that the bare client is made of, too. */
export function asker(address: string, token: string): Ask {
  const agent = new Agent({ keepAlive: true })
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return async (body) => {
    const call = request(`${address}/v1/analytics/query`, { method: 'POST', agent, headers })
    call.end(body)
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    const answered = await text(answer)
    if (answer.statusCode !== 200) throw new Error(answered)
    return JSON.parse(answered) as AnalyticsQueryResponse
  }
}
