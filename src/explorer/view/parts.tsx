/** What every part of the page gets, and what it shows of the response to its query. */
import type { Access } from '../client/access.js'
import type { Api } from '../client/api.js'
import type { QueryResponse, Query } from '../client/contract.js'
import { describeFailure, type Failure } from '../client/failure.js'
import type { ExplorerState } from '../state/state.js'
import type { ChangeState } from './use-address.js'
import type { ShownResponses } from './use-responses.js'

export interface Parts {
  readonly state: ExplorerState
  readonly change: ChangeState
  /** The time zone of the project, which is that of the page if the state has none. */
  readonly ownZone: string
  readonly responses: ShownResponses
  readonly access: Access
  readonly api: Api
}

/** What a part knows of its query. */
type Shown<Body> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'ready'; readonly body: Body; readonly isOld: boolean; readonly at: Date }

/** Finds the response to a query: its body, or why there is none. */
export function findShown<Body = QueryResponse>(
  { responses }: Pick<Parts, 'responses'>,
  query: Query | undefined,
): Shown<Body> {
  const found = query && responses.get(query)
  if (found === undefined) return { kind: 'waiting' }
  const {
    answered: { result, at },
    isOld,
  } = found
  const { status, body, retry_after: retryAfter } = result
  if ('error' in body)
    return { kind: 'failed', failure: describeFailure({ status, error: body, retryAfter }) }
  // The operation of the query decides which of the bodies it is.
  return { kind: 'ready', body: body as unknown as Body, isOld, at }
}

/** Says what went wrong, and asks again where that may help. */
export function FailureNote({
  failure: { message, canRetry },
  responses: { retry },
}: Pick<Parts, 'responses'> & { readonly failure: Failure }) {
  return (
    <p class="failure" role="alert">
      {message}{' '}
      {canRetry && (
        <button class="control" onClick={retry}>
          Try again
        </button>
      )}
    </p>
  )
}
