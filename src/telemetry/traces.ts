/**
 * Traces of OpenTelemetry: a span for each request, and below it one for each statement. Without an SDK there are none, and
 * nothing is measured.
 */
import {
  context,
  propagation,
  ProxyTracerProvider,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Tracer,
} from '@opentelemetry/api'

/** A request that has been responded to. */
interface TracedRequest {
  readonly method: string | undefined
  /** The template of the matched route; undefined when no route matched. */
  readonly route: string | undefined
  readonly status: number
  /** The code of the error response; undefined for any other response. */
  readonly errorCode: string | undefined
}

/** The span of a request. */
export interface RequestSpan {
  /** Runs a part of the request: what it starts belongs to the span. */
  readonly run: (work: () => void) => void
  readonly end: (request: TracedRequest) => void
}

/** A statement that is about to be sent. */
export interface TracedStatement {
  /** What is done with the connection: `query`, `execute` or `upload`. */
  readonly operation: string
  readonly queryId: string
  /** Returns the code of an error, such as `TIMEOUT_EXCEEDED`. Messages may quote values. */
  readonly getErrorCode: (error: unknown) => string
}

export interface Traces {
  /**
   * Starts the span of a request, below the span of the caller that its headers name.
   *
   * @param headers by their names in lower case
   */
  readonly startRequest: (headers: Readonly<Record<string, unknown>>) => RequestSpan
  /** Runs a statement in a span, if a span is active: the many statements that belong to no request have none. */
  readonly traceStatement: <Result>(
    statement: TracedStatement,
    run: () => Promise<Result>,
  ) => Promise<Result>
}

/** The methods that HTTP defines (RFC 9110 §9, RFC 5789); clients can send any word. */
const METHODS = new Set('GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH'.split(' '))
const OTHER_METHOD = '_OTHER'

/**
 * Connects to the SDK of this process.
 *
 * @returns undefined if no SDK is registered
 */
export function connectTraces(version: string): Traces | undefined {
  const provider = trace.getTracerProvider()
  const tracer =
    provider instanceof ProxyTracerProvider
      ? provider.getDelegateTracer('tallyhouse', version)
      : provider.getTracer('tallyhouse', version)
  if (tracer === undefined) return undefined
  return {
    startRequest: (headers) => startRequest(tracer, headers),
    traceStatement: (statement, run) =>
      trace.getActiveSpan() === undefined ? run() : traceStatement(tracer, statement, run),
  }
}

function startRequest(tracer: Tracer, headers: Readonly<Record<string, unknown>>): RequestSpan {
  // The propagator of the SDK reads the headers that it knows, such as `traceparent`. Without one, the span begins a trace.
  const caller = propagation.extract(context.active(), headers)
  const span = tracer.startSpan('HTTP', { kind: SpanKind.SERVER }, caller)
  const active = trace.setSpan(caller, span)
  return {
    run: (work) => context.with(active, work),
    end: (request) => {
      span.updateName(nameRequest(request))
      span.setAttributes(describeRequest(request))
      if (request.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** Names a span as the conventions say: by method and template, never by the path. */
function nameRequest({ method = '', route }: TracedRequest): string {
  const known = METHODS.has(method) ? method : 'HTTP'
  return route === undefined ? known : `${known} ${route}`
}

function describeRequest({ method = '', route, status, errorCode }: TracedRequest): Attributes {
  return {
    'http.request.method': METHODS.has(method) ? method : OTHER_METHOD,
    ...(route === undefined ? {} : { 'http.route': route }),
    'http.response.status_code': status,
    'url.scheme': 'http',
    ...(errorCode === undefined ? {} : { 'error.type': errorCode }),
  }
}

function traceStatement<Result>(
  tracer: Tracer,
  { operation, queryId, getErrorCode }: TracedStatement,
  run: () => Promise<Result>,
): Promise<Result> {
  const attributes = {
    'db.system': 'clickhouse',
    'db.operation.name': operation,
    'db.clickhouse.query_id': queryId,
  }
  return tracer.startActiveSpan(
    `clickhouse ${operation}`,
    { kind: SpanKind.CLIENT, attributes },
    async (span) => {
      try {
        return await run()
      } catch (error) {
        span.setAttribute('error.type', getErrorCode(error))
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
  )
}
