/** Answers batches: several queries of one request, each as if it were asked alone. */
import type { Request, RequestHandler, Response } from 'express'
import { MEDIA_TYPES } from '../../contract/response-formats.js'
import type { BatchRequest, BatchResponse, BatchResult } from '../../contract/api.js'
import type { ApiError } from '../../contract/errors.js'
import { settleAll } from '../../lib/settle.js'
import type { ToolOutcome } from '../../mcp/call-result.js'
import { createRequestContext, type RequestContext } from '../query/context.js'
import { handleUntilStop } from '../query/handlers.js'
import { countAnother } from '../query/rate-limit.js'
import { toApiError } from '../server/translate-error.js'
import { describeFailure, runEndpoint, type Endpoints, type Result } from './run-endpoint.js'

/** How many queries of a batch are answered at a time. */
const MAX_AT_ONCE = 4

/**
 * POST /v1/analytics/batch. Results are sent together as JSON, or each as a line of NDJSON as soon as it is there.
 *
 * @param limit counts a request for the rate limit; it has counted the batch once, for its first query
 * @param now measures how long queries take
 */
export const postBatch = (
  endpoints: Endpoints,
  limit: RequestHandler,
  stopping: AbortSignal,
  now: ReadClock = () => performance.now(),
): RequestHandler =>
  handleUntilStop(stopping, async (request, response, signal) => {
    const batch = request.body as BatchRequest
    const sender = createSender(request, response)
    const refusals = await countQueries(limit, request, response, batch.queries.length)
    const context = createRequestContext(request, signal)
    sender.end(await answerBatch(endpoints, batch, refusals, context, sender.add, now))
  })

/** Validates and answers a batch that did not come as a request of its own. @param count counts its queries for the rate limit */
export async function runBatch(
  endpoints: Endpoints,
  body: object,
  context: RequestContext,
  count: (queries: number) => Promise<readonly (ApiError | undefined)[]>,
): Promise<ToolOutcome> {
  try {
    const batch = endpoints.contract.validateBatch(body)
    const refusals = await count(batch.queries.length)
    return { status: 200, body: await answerBatch(endpoints, batch, refusals, context) }
  } catch (thrown) {
    return describeFailure(toApiError(thrown))
  }
}

/**
 * Answers a validated batch, all of its queries for the same moment.
 *
 * @param refusals the errors of queries that are not to be run, by position
 * @param add is called with each result as soon as it is there
 */
async function answerBatch(
  endpoints: Endpoints,
  { queries, include }: BatchRequest,
  refusals: readonly (ApiError | undefined)[],
  request: RequestContext,
  add: (result: BatchResult) => void = () => undefined,
  now: ReadClock = () => performance.now(),
): Promise<BatchResponse> {
  const context = { ...request, now: endpoints.api.now() }
  const { signal } = context
  const time = (run: () => Promise<Result>) => timeResult(run, include?.timing === true, now)
  const results = await mapWithLimit(
    queries,
    MAX_AT_ONCE,
    async ({ id, operation, body }, i): Promise<BatchResult> => {
      // Nobody gets the other results of a batch whose client has left.
      signal.throwIfAborted()
      const refusal = refusals[i]
      const result =
        refusal === undefined
          ? { id, ...(await time(() => runEndpoint(endpoints, operation, body, context))) }
          : { id, ...describeFailure(refusal) }
      signal.throwIfAborted()
      add(result)
      return result
    },
  )
  return { results }
}

/** Counts the queries of a batch for the rate limit. Returns the error of each that is beyond it. */
export async function countQueries(
  limit: RequestHandler,
  request: Request,
  response: Response,
  count: number,
): Promise<readonly (ApiError | undefined)[]> {
  const refusals: (ApiError | undefined)[] = [undefined]
  while (refusals.length < count) refusals.push(await countAnother(limit, request, response))
  return refusals
}

/**
 * Maps items in their order, at most `limit` at a time. After an error no other is begun.
 *
 * @returns the results in the order of the items
 * @throws the error of the first work that failed, after all that were begun have ended
 */
export async function mapWithLimit<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const remaining = items.entries()
  let hasFailed = false
  const runNext = async (): Promise<void> => {
    for (const [i, item] of remaining) {
      try {
        results[i] = await work(item, i)
      } catch (error) {
        hasFailed = true
        throw error
      }
      if (hasFailed) return
    }
  }
  await settleAll(Array.from({ length: limit }, runNext))
  return results
}

interface ResultSender {
  /** To be called with each result as soon as it is there. */
  readonly add: (result: BatchResult) => void
  /** To be called with all results, in the order of their queries. */
  readonly end: (body: BatchResponse) => void
}

/**
 * Creates the sender of a batch. NDJSON is sent line by line, so an error after the first one breaks off the connection: a response
 * that has an end has all results.
 */
const createSender = ({ responseFormat }: Request, response: Response): ResultSender =>
  responseFormat === 'ndjson'
    ? {
        add: (result) => {
          if (!response.headersSent) response.type(MEDIA_TYPES.ndjson)
          // A batch has few results, so nothing waits until the client has taken the last one.
          response.write(`${JSON.stringify(result)}\n`)
        },
        end: () => void response.end(),
      }
    : {
        add: () => undefined,
        end: (body) => void response.json(body),
      }

/** Reads a clock that never goes back, in milliseconds. */
type ReadClock = () => number

/**
 * Waits for a result, and adds how long it took. Only responses are timed: an error says itself what it is about.
 *
 * @param isTimed whether the result says how long it took
 */
export async function timeResult(
  run: () => Promise<Result>,
  isTimed: boolean,
  now: ReadClock,
): Promise<Omit<Result, 'source'> & Pick<BatchResult, 'timing'>> {
  const begun = now()
  const { source, ...result } = await run()
  if (!isTimed || result.status !== 200) return result
  const milliseconds = Math.round(10 * Math.max(0, now() - begun)) / 10
  return {
    ...result,
    timing: { milliseconds, ...(source === undefined ? {} : { cache: source }) },
  }
}
