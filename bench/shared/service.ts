/** Runs the service as it is deployed, and sends it queries over HTTP with an API key. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AnalyticsQueryResponse } from '../../src/contract/api.js'
import { issueKey } from '../../src/auth/api-keys.js'
import { openSigningKey } from '../../src/auth/signing-key.js'
import type { Store } from '../../src/clickhouse/store.js'
import { addDays } from '../../src/lib/time.js'
import { packagePath } from '../../src/lib/package-path.js'

const KEY_DAYS = 2

export interface RunningService {
  readonly address: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** Starts the service in a process, with its own engine. @param env further variables */
export async function startServiceProcess(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  const child = spawn(process.execPath, [packagePath('dist/cli.js'), 'serve'], {
    env: {
      PATH: process.env['PATH'],
      DATA_DIR: dataDir,
      PORT: '0',
      NODE_ENV: 'production',
      RATE_LIMIT: '0',
      // Responses are to be computed.
      CACHE_MB: '0',
      TOKEN_EVENTS_PER_MINUTE: '0',
      TOKEN_MB_PER_MINUTE: '0',
      ADDRESS_EVENTS_PER_MINUTE: '0',
      ADDRESS_MB_PER_MINUTE: '0',
      MAX_WAITING_VALUES: '0',
      // Slow queries are to be measured rather than cancelled.
      QUERY_TIMEOUT_MS: '60000',
      ...env,
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

/** Issues an API key for a project, valid for the length of the run. */
export async function issueToken(
  store: Store,
  dataDir: string,
  projectId: string,
  now: Date,
): Promise<string> {
  const scopes = ['read', 'export'] as const
  const key = { projectId, name: 'bench', scopes, expiresAt: addDays(now, KEY_DAYS) }
  const { token } = await issueKey(store, await openSigningKey({ store, dataDir }, now), key, now)
  return token
}

/** Sends a query, given as the body of the request. @param requestId starts the ids of its statements */
export type SendQuery = (body: string, requestId?: string) => Promise<AnalyticsQueryResponse>

/** Sends queries over one connection that stays open. */
export function createQueryClient(address: string, token: string): SendQuery {
  const send = createClient(address, token)
  return async (body, requestId) => {
    const response = await send({ path: '/v1/analytics/query', body }, requestId)
    return JSON.parse(response) as AnalyticsQueryResponse
  }
}

/** A request to one of the operations. */
export interface BenchRequest {
  readonly path: string
  readonly body: string
  /** The media type of the response; absent: JSON. */
  readonly accept?: string
}

/** Sends a request and returns the body of the response. @param requestId starts the ids of its statements */
export type SendRequest = (request: BenchRequest, requestId?: string) => Promise<string>

/** Sends requests over one connection that stays open, with Node's HTTP client, as the bare client does. */
export function createClient(address: string, token: string): SendRequest {
  const agent = new Agent({ keepAlive: true })
  return async ({ path, body, accept }, requestId) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...(accept === undefined ? {} : { Accept: accept }),
      ...(requestId === undefined ? {} : { 'X-Request-Id': requestId }),
    }
    const call = request(`${address}${path}`, { method: 'POST', agent, headers })
    call.end(body)
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    const responseText = await text(response)
    if (response.statusCode !== 200) throw new Error(responseText)
    return responseText
  }
}
