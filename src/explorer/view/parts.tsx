/** What every part of the page gets, and what it shows of the response to its query. */
import { DAY_MS } from '../../lib/time.js'
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
  /** The address of the site, such as `https://shop.example`; undefined while it is not known. */
  readonly site?: string | undefined
  /** The moment of the first event, or the start of its day; undefined while it is not known. */
  readonly since?: string | undefined
  /** Why several parts have no numbers, which is said once, at the top of the page. */
  readonly common?: Failure | undefined
}

/** What a part knows of its query. */
export type Shown<Body> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'ready'; readonly body: Body; readonly isOld: boolean; readonly at: Date }

/** Finds the response to a query: its body, or why there is none. */
export function findShown<Body = QueryResponse>(
  { responses, since }: Pick<Parts, 'responses' | 'since'>,
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
  return { kind: 'ready', body: hideUnmeasured(body, since) as unknown as Body, isOld, at }
}

/** Takes the comparison out of a response whose other period begins before the day of the first event: its changes would mean nothing. */
function hideUnmeasured<Body extends object>(body: Body, since: string | undefined): Body {
  const { comparison, data } = body as Partial<QueryResponse>
  const isMeasured =
    since === undefined ||
    comparison === undefined ||
    Date.parse(comparison.period.from) + DAY_MS > Date.parse(since)
  return isMeasured
    ? body
    : {
        ...body,
        comparison: undefined,
        data: data?.map((row) => ({ ...row, comparison: undefined })),
      }
}

/** Finds the failure that at least two queries have in common. */
export function findCommonFailure(
  parts: Pick<Parts, 'responses'>,
  queries: readonly Query[],
): Failure | undefined {
  const failures = queries.flatMap((query) => {
    const shown = findShown(parts, query)
    return shown.kind === 'failed' ? [shown.failure] : []
  })
  return failures.find((failure, i) =>
    failures.some((other, k) => k !== i && isSameFailure(other, failure)),
  )
}

/** Whether two failures have one cause: a field may stand at another place of a query. */
const isSameFailure = (one: Failure, other: Failure | undefined): boolean =>
  toCause(one) === (other && toCause(other))
const toCause = ({ message }: Failure): string => message.replace(/\.\d+\b/g, '')

/** Says what went wrong, and asks again where that may help; less where the top of the page says it. */
export function FailureNote({
  failure,
  common,
  responses: { retry },
}: Pick<Parts, 'responses' | 'common'> & { readonly failure: Failure }) {
  const { message, canRetry } = failure
  if (isSameFailure(failure, common)) return <p class="empty">No numbers.</p>
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
