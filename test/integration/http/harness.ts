/** Starts the HTTP application on a free port, with functions at its boundary in place of a store. */
import { Writable } from 'node:stream'
import { createResponseCache } from '../../../src/analytics/cache/responses.js'
import type {
  StatementRows,
  StoredRows,
  StreamDependencies,
} from '../../../src/analytics/operation.js'
import type { Statement } from '../../../src/clickhouse/sql.js'
import type { AnalyticsQueryResponse, ErrorCode, Project } from '../../../src/contract/api.js'
import {
  createApp,
  type AppDependencies,
  type CollectorDependencies,
} from '../../../src/bootstrap/serving/app.js'
import type { ApiDependencies } from '../../../src/bootstrap/serving/api-routes.js'
import type { EventLimits } from '../../../src/http/collect/event-limits.js'
import { createCollect } from '../../../src/ingest/collect/collect.js'
import { invalidTokenError } from '../../../src/ingest/collect/find-project.js'
import { ApiError } from '../../../src/contract/errors.js'
import type { RunningRequest } from '../../../src/http/query/context.js'
import type { AuthContext } from '../../../src/http/server/request-context.js'
import { compileContract, type Contract } from '../../../src/http/validation/contract.js'
import { logPlan } from '../../../src/http/query/plan-log.js'
import { createQueryQueue } from '../../../src/http/query/queue/query-queue.js'
import type { ShareDependencies } from '../../../src/http/share/read-share.js'
import { createShutdown } from '../../../src/http/server/graceful-shutdown.js'
import { listen, type HttpTimeouts } from '../../../src/http/server/listen.js'
import type { StopTimes } from '../../../src/http/server/stop-server.js'
import type { NewLines } from '../../../src/ingest/inbox/insert-lines.js'
import type { MarkedRow } from '../../../src/model/origin.js'
import { createLogger } from '../../../src/lib/log.js'
import { toStoredProject } from '../../support/world/stored-project.js'

/** The only valid key of the application under test. */
export const KEY = 'th_secret-of-the-test'

/** A valid query. */
export const QUESTION = { date_range: 'today' }

export const PROJECT: Project = {
  id: 'project-1',
  name: 'Example',
  domain: 'example.com',
  token: 'public-token',
  createdAt: '2026-01-01T00:00:00.000Z',
  firstEventAt: null,
  hasPublicDashboard: false,
  excludedIps: [],
  excludedCountries: [],
}

/** The response to QUESTION. */
export const ANSWER: AnalyticsQueryResponse = {
  period: { from: '2026-03-10T00:00:00Z', to: '2026-03-10T12:00:00Z' },
  query: {
    date_range: 'today',
    metrics: ['users', 'pageviews', 'events'],
    group_by: [],
    order_by: [],
    limit: 100,
    offset: 0,
    filters: [],
    filtersOperator: 'and',
  },
  pagination: { limit: 100, offset: 0, returned: 1, total: 1 },
  data: [{ group: {}, metrics: { users: 1, pageviews: 2, events: 3 } }],
}

/** The key and project of every request with KEY. */
export const CALLER: AuthContext = {
  principal: { keyId: 'key-1', projectId: PROJECT.id },
  scopes: ['read', 'export'],
  project: toStoredProject({
    id: PROJECT.id,
    name: PROJECT.name,
    domain: PROJECT.domain,
    token: PROJECT.token,
    createdAt: new Date(PROJECT.createdAt),
  }),
}

/** The user agent of requests to the collector, unless a test gives another: that of fetch is a bot's. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** The time at which events arrive at the application under test. */
export const NOW = new Date('2026-03-10T12:00:00.000Z')

/** Events and bytes may be sent without a limit. */
export const NO_LIMITS: EventLimits = {
  tokenEventsPerMinute: 0,
  tokenMbPerMinute: 0,
  addressEventsPerMinute: 0,
  addressMbPerMinute: 0,
  tokenEventsPerDay: 0,
}

/** A request whose statement is run. */
export interface Running extends RunningRequest {
  /** The limit of its rows; NaN if there is none. */
  readonly limit: number
}

/** Functions that a test may replace; the others succeed. */
export interface Given
  extends
    Partial<Omit<AppDependencies, 'api' | 'collector'>>,
    Partial<ApiDependencies>,
    Partial<CollectorDependencies>,
    Partial<Pick<StreamDependencies, 'firstEventAt'>> {
  /** Reads the rows of the store, which has one event of a user. */
  readonly readRows?: (running: Running) => Promise<readonly object[]>
  /** Streams the rows of the store. */
  readonly streamRows?: (running: Running, statement: Statement) => AsyncIterable<readonly object[]>
  readonly timeouts?: Partial<HttpTimeouts>
  readonly maxConnections?: number
}

export interface RunningApp {
  readonly url: string
  readonly port: number
  /** The events that were collected so far. */
  readonly collected: readonly NewLines[]
  /** The log so far. */
  log(): string
  /** Stops gracefully. */
  stop(times?: Partial<StopTimes>): Promise<void>
  /** Sends a request with the key. */
  get(path: string, init?: RequestInit): Promise<Response>
  /** Sends a query with the key. */
  ask(body?: unknown, init?: RequestInit): Promise<Response>
  /** Sends events with the token of the project in the header, as a browser's user agent. */
  collect(body: unknown, init?: RequestInit): Promise<Response>
}

/** No project is public. */
const NO_SHARES: ShareDependencies = {
  find: () => Promise.resolve(undefined),
  recall: () => undefined,
  limits: { perDashboard: 0, perAddress: 0 },
  streams: createQueryQueue({ perKey: 1, inAll: 2, waiting: 0, timeoutMs: 10_000 }),
}

/** The rows of the store for QUESTION. */
export const ROWS = [{ group_key: '', metric_users: 1, metric_pageviews: 2, metric_events: 3 }]

/** Runs statements with the functions that a test has given. */
function openData(
  { readRows = () => Promise.resolve(ROWS), streamRows, firstEventAt }: Given,
  request: RunningRequest,
): StreamDependencies {
  const open = (statement: Statement) => {
    const limit = Number(readParameter(statement, /LIMIT \{(\w+):/))
    const of_request = readParameter(statement, /\{(\w+):String\} AS of_request/) as string
    const mark = (row: object) => ({ ...row, of_project: request.project.id, of_request })
    return { running: { ...request, limit }, mark }
  }
  return {
    run: async <Row extends object>(
      statement: Statement,
    ): Promise<StatementRows<Row & MarkedRow>> => {
      const { running, mark } = open(statement)
      const rows = await readRows(running)
      return { rows: rows.map(mark) as (Row & MarkedRow)[], total: rows.length }
    },
    stream: async <Row>(
      statement: Statement,
      consume: (rows: StoredRows<Row>) => Promise<void>,
    ) => {
      const { running, mark } = open(statement)
      async function* read() {
        let total = 0
        for await (const rows of streamRows?.(running, statement) ?? []) {
          total += rows.length
          yield rows.map((row) => mark(row) as Row)
        }
        return total
      }
      await consume(read())
    },
    firstEventAt: firstEventAt ?? (() => Promise.resolve(null)),
    now: () => request.now ?? NOW,
    onPlan: (plan) => logPlan(request.logger, plan),
  }
}

const readParameter = ({ query, query_params }: Statement, pattern: RegExp): unknown =>
  query_params[pattern.exec(query)?.[1] ?? '']

/** Compiled once, for all applications of a test file. */
let contract: Promise<Contract> | undefined

export async function startApp({
  timeouts,
  maxConnections,
  ...given
}: Given = {}): Promise<RunningApp> {
  const lines: string[] = []
  const logger = createLogger(
    'trace',
    new Writable({
      write(line: Buffer, _encoding, done) {
        lines.push(line.toString())
        done()
      },
    }),
  )
  const { shutdown, steps } = createShutdown()
  const collected: NewLines[] = []
  const app = createApp({
    api: {
      authenticate: (header) =>
        header === `Bearer ${KEY}` ? Promise.resolve(CALLER) : Promise.reject(unauthorized()),
      recall: () => undefined,
      readData: (_project, request, read) => read(openData(given, request)),
      readAcross: () => Promise.reject(new Error('not served')),
      readDefinitions: () => Promise.resolve([]),
      presentExplanation: (explanation) => explanation,
      countQuery: () => undefined,
      responses: createResponseCache({
        maxBytes: 0,
        readVersion: () => Promise.resolve(undefined),
        getLastVersion: () => undefined,
        isCurrent: () => false,
        hasEventsFrom: () => Promise.resolve(true),
        readsRollups: () => true,
        now: () => NOW,
      }),
      now: () => NOW,
      queue: createQueryQueue({ perKey: 100, inAll: 100, waiting: 100, timeoutMs: 10_000 }),
      streams: createQueryQueue({ perKey: 100, inAll: 100, waiting: 0, timeoutMs: 10_000 }),
      exports: createQueryQueue({ perKey: 100, inAll: 100, waiting: 0, timeoutMs: 10_000 }),
      rateLimit: 0,
      shares: NO_SHARES,
      ...given,
    },
    collector: {
      findProject: (token) =>
        token === PROJECT.token
          ? Promise.resolve(CALLER.project)
          : Promise.reject(invalidTokenError()),
      collect: createCollect(() => [
        {
          write: (lines) => {
            collected.push(lines)
            return Promise.resolve()
          },
        },
      ]),
      now: () => NOW,
      maxEventAgeDays: 36_500,
      limits: NO_LIMITS,
      scriptName: 'tally.js',
      ...given,
    },
    trustedProxies: 0,
    isReady: () => Promise.resolve(true),
    contract: await (contract ??= compileContract({ validateResponses: true, compileAll: false })),
    shutdown,
    logger,
    ...given,
  })
  const server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    logger,
    ...(timeouts === undefined ? {} : { timeouts }),
    ...(maxConnections === undefined ? {} : { maxConnections }),
  })
  const get = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(server.address + path, {
      redirect: 'manual',
      ...init,
      headers: { Authorization: `Bearer ${KEY}`, ...(init.headers as Record<string, string>) },
    })
  return {
    url: server.address,
    port: Number(new URL(server.address).port),
    collected,
    log: () => lines.join(''),
    stop: (times) => server.stop(steps, { notice: 0, ...times }),
    get,
    ask: (body = QUESTION, init = {}) =>
      get('/v1/analytics/query', {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
        headers: { 'Content-Type': 'application/json', ...(init.headers as object) },
      }),
    collect: (body, init = {}) =>
      fetch(`${server.address}/v1/events`, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${PROJECT.token}`,
          'User-Agent': BROWSER,
          ...(init.headers as object),
        },
      }),
  }
}

function unauthorized(): ApiError {
  return new ApiError('UNAUTHORIZED', 'The API key is missing or not valid.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}

/** Returns the status and the code of an error response. */
export async function outcome(response: Response): Promise<{ status: number; code: ErrorCode }> {
  const { error } = (await response.json()) as { error: { code: ErrorCode } }
  return { status: response.status, code: error.code }
}
