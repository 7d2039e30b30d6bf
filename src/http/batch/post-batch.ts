/** Answers batches: several queries of one request, each as if it were asked alone. */
import type { Request, RequestHandler, Response } from 'express'
import type { BatchRequest, BatchResult } from '../../contract/api.js'
import type { ApiError } from '../../contract/errors.js'
import { createRequestContext } from '../query/context.js'
import { respond } from '../query/handlers.js'
import { countAnother } from '../query/rate-limit.js'
import { mapWithLimit } from './map-with-limit.js'
import { describeFailure, runEndpoint, type Endpoints, type Result } from './run-endpoint.js'
import { createSender } from './send-results.js'
import { timeResult, type ReadClock } from './time-result.js'

/** How many queries of a batch are answered at a time. */
const MAX_AT_ONCE = 4

/**
 * POST /v1/analytics/batch. Results are sent together as JSON, or each as a line of NDJSON as soon as it is there.
 *
 * @param limit counts a request for the rate limit; it has counted the batch once, for its first query
 * @param now measures how long queries take
 */
export function postBatch(
  endpoints: Endpoints,
  limit: RequestHandler,
  stopping: AbortSignal,
  now: ReadClock = () => performance.now(),
): RequestHandler {
  return async (request, response) => {
    const { queries, include } = request.body as BatchRequest
    const sender = createSender(request, response)
    await respond(response, stopping, sender.end, async (signal) => {
      const refusals = await countQueries(limit, request, response, queries.length)
      const context = { ...createRequestContext(request, signal), now: endpoints.api.now() }
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
          sender.add(result)
          return result
        },
      )
      return { results }
    })
  }
}

/** Counts the queries of a batch for the rate limit. Returns the error of each that is beyond it. */
async function countQueries(
  limit: RequestHandler,
  request: Request,
  response: Response,
  count: number,
): Promise<readonly (ApiError | undefined)[]> {
  const refusals: (ApiError | undefined)[] = [undefined]
  while (refusals.length < count) refusals.push(await countAnother(limit, request, response))
  return refusals
}
