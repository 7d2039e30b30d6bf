/** The instruments of the HTTP server: how many requests, how fast, and with which outcome. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** A request that has been responded to. */
export interface ObservedRequest {
  readonly method: string | undefined
  /** The template of the matched route; undefined when no route matched. */
  readonly route: string | undefined
  readonly status: number
  readonly seconds: number
  /** The code of the error response, such as `RATE_LIMIT_EXCEEDED`; undefined for any other response. */
  readonly errorCode: string | undefined
}

export interface HttpInstruments {
  readonly onRequestStart: () => void
  /** Called once per request: with the response, or when the client has disconnected. */
  readonly onRequestEnd: (request: ObservedRequest) => void
  /** Called with the code of the response to a request that Node.js could not read. */
  readonly onMalformedRequest: (errorCode: string) => void
  /** Called once per answer to a query, with the value of `Tally-Cache`. */
  readonly onResponse: (source: string) => void
  /** @param countBytes is called for every scrape; returns how many bytes the kept responses take */
  readonly watchResponses: (countBytes: () => number) => void
  /** @param count is called for every scrape; returns how many queries run and how many wait for their turn */
  readonly watchQueries: (count: () => Readonly<Record<'running' | 'waiting', number>>) => void
}

/** The methods that have a value of their own in the label `method`; clients can send any word. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])
const OTHER = 'other'
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createHttpInstruments(registry: Registry): HttpInstruments {
  const registers = [registry]
  const requests = new Counter({
    name: 'tallyhouse_http_requests_total',
    help: 'Requests, by method, route template and status.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'tallyhouse_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response, by route template.',
    labelNames: ['route'],
    buckets: DURATIONS,
    registers,
  })
  const inFlight = new Gauge({
    name: 'tallyhouse_http_requests_in_flight',
    help: 'Requests that have no complete response yet.',
    registers,
  })
  const errors = new Counter({
    name: 'tallyhouse_http_errors_total',
    help: 'Error responses, by the code of the error.',
    labelNames: ['code'],
    registers,
  })
  const responses = new Counter({
    name: 'tallyhouse_answers_total',
    help: 'Responses to queries: computed (miss), known (hit), or computed together with an equal query (coalesced).',
    labelNames: ['source'],
    registers,
  })
  return {
    onRequestStart: () => inFlight.inc(),
    onRequestEnd: ({ method = '', route = OTHER, status, seconds, errorCode }) => {
      inFlight.dec()
      requests.inc({ method: METHODS.has(method) ? method : OTHER, route, status })
      durations.observe({ route }, seconds)
      if (errorCode !== undefined) errors.inc({ code: errorCode })
    },
    onMalformedRequest: (code) => errors.inc({ code }),
    onResponse: (source) => responses.inc({ source }),
    watchResponses: (countBytes) => createResponseGauge(registry, countBytes),
    watchQueries: (count) => createQueryGauge(registry, count),
  }
}

function createQueryGauge(
  registry: Registry,
  count: Parameters<HttpInstruments['watchQueries']>[0],
): void {
  new Gauge({
    name: 'tallyhouse_queries',
    help: 'Queries of the API that run, and that wait for their turn.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { running, waiting } = count()
      this.set({ state: 'running' }, running)
      this.set({ state: 'waiting' }, waiting)
    },
  })
}

function createResponseGauge(registry: Registry, countBytes: () => number): void {
  new Gauge({
    name: 'tallyhouse_answer_cache_bytes',
    help: 'Memory that the kept responses take.',
    registers: [registry],
    collect() {
      this.set(countBytes())
    },
  })
}
