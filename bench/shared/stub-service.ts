/** The service in a process, over a store that answers every analytics statement at once: only the service takes time. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProject } from '../../src/projects/store.js'
import { formatServerUrl } from '../../test/support/cli/commands.js'
import { pass } from '../../test/support/faults/fake-clickhouse.js'
import { issueToken, startServiceProcess, type RunningService } from './service.js'
import { openBenchStore } from './data-folder.js'

const PROJECT = 'bench'
/** Milliseconds until the stub answers, as a fast store would. */
const DELAY_MS = 5
/** The rows of each answer: the days of a month. */
const ROWS = 30
/** Read as the number of a day in a time series, and as a text in any other grouping. */
const FIRST_KEY = 20_000

export interface StubbedService extends RunningService {
  /** The API keys. */
  readonly tokens: readonly string[]
}

/** Calls `work` with the service and `keys` API keys. */
export async function withStubbedService(
  keys: number,
  env: Readonly<Record<string, string>>,
  work: (service: StubbedService) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-'))
  const opened = await openBenchStore(dataDir)
  const { store, endpoint } = opened
  const stub = await startStub(endpoint.url)
  try {
    const now = new Date()
    await createProject(store, { id: PROJECT, name: 'Bench', domain: 'example.com' }, now)
    const tokens: string[] = []
    for (let i = 0; i < keys; i++) tokens.push(await issueToken(store, dataDir, PROJECT, now))
    const service = await startServiceProcess(dataDir, {
      CLICKHOUSE_URL: formatServerUrl({ ...endpoint, url: stub.url }),
      ...env,
    })
    await work({ ...service, tokens }).finally(() => service.stop())
  } finally {
    stub.stop()
    await opened.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Starts a server that answers analytics statements itself, and passes all others on to the store at `target`. */
async function startStub(target: string): Promise<{ url: string; stop: () => void }> {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    const marks = MARKS.exec(body.toString())?.groups
    if (marks === undefined) {
      pass(target, request, response, Readable.from([body]))
      return
    }
    const { searchParams } = new URL(request.url ?? '/', target)
    const [project, nonce] = [marks['project'], marks['nonce']].map((name) =>
      searchParams.get(`param_${name}`),
    )
    await sleep(DELAY_MS)
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'X-ClickHouse-Query-Id': searchParams.get('query_id') ?? '',
    })
    response.end(writeAnswer(project, nonce))
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The parameters with which the rows of an analytics statement are marked. */
const MARKS =
  /^SELECT group_key\b.*\{(?<project>\w+):String\} AS of_project, \{(?<nonce>\w+):String\} AS of_request/s

function writeAnswer(of_project: unknown, of_request: unknown): string {
  const data = Array.from({ length: ROWS }, (_, n) => ({
    group_key: FIRST_KEY + n,
    metric_users: 100 - n,
    metric_pageviews: 200 - n,
    metric_events: n,
    of_project,
    of_request,
  }))
  const statistics = { elapsed: DELAY_MS / 1_000, rows_read: ROWS, bytes_read: ROWS }
  return JSON.stringify({ data, rows: ROWS, rows_before_limit_at_least: ROWS, statistics })
}
