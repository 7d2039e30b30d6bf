/** Batches of queries: their results are typed by the queries, and queries that failed for now are sent again. */
import type { components } from '../../../generated/openapi.js'
import type { BatchRequest } from './contract.js'
import type { Result } from './result.js'
import { countRetries, isPassing, wait, type RetryOptions } from './retries.js'
import type { Checked, Exact, QueryResponse } from './rows.js'

type Schemas = components['schemas']
type Failed = Omit<Schemas['BatchResult'], 'body' | 'timing'> & {
  readonly body: Schemas['ErrorResponse']
}

/** The response to a batch of the type `B`. A result is an error if its body has `error`. */
export type BatchResponse<B = BatchRequest> = BatchRequest extends B
  ? Schemas['BatchResponse']
  : B extends { readonly queries: infer Queries }
    ? { readonly results: { readonly [I in keyof Queries]: BatchResult<Queries[I]> } }
    : never

type BatchResult<Q> = Q extends { readonly id: infer Id extends string; readonly body: infer Body }
  ? | (Failed & { readonly id: Id })
    | (Omit<Schemas['BatchResult'], 'id' | 'body' | 'retry_after'> & {
        readonly id: Id
        readonly body: Bodies<Body>[OperationOf<Q>]
      })
  : never

interface Bodies<Body> {
  readonly query: QueryResponse<Body>
  readonly values: Schemas['ValuesResponse']
  readonly retention: Schemas['RetentionResponse']
  readonly funnel: Schemas['FunnelResponse']
  readonly journeys: Schemas['JourneysResponse']
}
type OperationOf<Q> = Q extends { readonly operation: infer O extends keyof Bodies<unknown> }
  ? O
  : Q extends { readonly operation?: infer O }
    ? Extract<O, keyof Bodies<unknown>> | 'query'
    : 'query'

/** The members that a batch may not have: those of no batch, and those that its queries alone may not have. */
export type CheckedBatch<B> = {
  readonly [K in keyof B]: K extends 'queries'
    ? CheckedQueries<B[K]>
    : K extends keyof BatchRequest
      ? Exact<B[K], BatchRequest[K]>
      : never
}
type CheckedQueries<List> = { readonly [I in keyof List]: CheckedQuery<List[I]> }
type CheckedQuery<Q> = {
  readonly [K in keyof Q]: K extends 'body'
    ? OperationOf<Q> extends 'query'
      ? Checked<Q[K]>
      : Exact<Q[K], Schemas['BatchQuery']['body']>
    : K extends keyof Schemas['BatchQuery']
      ? Q[K]
      : never
}

/** Sends a batch, and its queries that failed for now again. What a later batch does not answer keeps its first result. */
export async function sendBatch(
  send: (body: BatchRequest) => Promise<Result<Schemas['BatchResponse']>>,
  body: BatchRequest,
  retry: RetryOptions,
  signal?: AbortSignal,
): Promise<Result<Schemas['BatchResponse']>> {
  const next = countRetries(retry)
  const response = await send(body)
  if (!response.ok) return response
  const results = new Map(response.data.results.map((result) => [result.id, result]))
  for (let resent = 0; ; resent++) {
    const failed = [...results.values()].filter(({ status }) => isPassing(status, resent))
    if (failed.length === 0) break
    const waits = failed.flatMap(({ retry_after: seconds }) => seconds ?? [])
    const delay = next({ status: 503, ...(waits.length > 0 && { retryAfter: Math.max(...waits) }) })
    if (delay === undefined || !(await hasWaited(delay, signal))) break
    const ids = new Set(failed.map(({ id }) => id))
    const again = await send({ ...body, queries: body.queries.filter(({ id }) => ids.has(id)) })
    if (!again.ok) break
    for (const result of again.data.results) results.set(result.id, result)
  }
  return { ok: true, data: { results: [...results.values()] } }
}

const hasWaited = (seconds: number, signal?: AbortSignal): Promise<boolean> =>
  wait(seconds, signal).then(
    () => true,
    () => false,
  )
