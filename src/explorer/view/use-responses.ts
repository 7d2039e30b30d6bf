/** The responses to the queries of the page: fetched when the queries change, and again while somebody looks. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createResponses, type KeptResult, type Responses } from '../client/responses.js'
import type { Api } from '../client/api.js'
import type { BatchResult, Query } from '../client/contract.js'
import { ApiFailure, describeFailure, type Failure } from '../client/failure.js'

/** A response, and whether it is to what was asked before. */
interface FoundResponse {
  readonly answered: KeptResult
  readonly isOld: boolean
}

export interface ShownResponses extends Asking {
  /** The response to a query; while it is asked, the last one of the same part of the page. */
  readonly get: (query: Query) => FoundResponse | undefined
  /** Asks the queries again. */
  readonly retry: () => void
  /** Asks everything again, also what was answered a moment ago. */
  readonly renew: () => void
}

/** How often a page that is looked at asks what is no longer fresh. */
const REFRESH_MS = 30_000

/** Sends the queries of the page, and keeps their responses. */
export function useResponses(
  api: Api,
  queries: readonly Query[],
  browser: Window,
  now: () => Date,
): ShownResponses {
  const responses = useRef(createResponses()).current
  const shown = useRef(new Map<string, KeptResult>()).current
  const [attempt, setAttempt] = useState(0)
  const retry = useCallback(() => setAttempt((count) => count + 1), [])
  const renew = useCallback(() => {
    responses.clear()
    retry()
  }, [])
  const asking = useMissing({ api, responses, queries, now, attempt })
  useEffect(() => repeatWhileVisible(browser, REFRESH_MS, retry), [])
  return {
    ...asking,
    retry,
    renew,
    get: (query) => {
      const answered = responses.get(query)
      const part = namePart(query)
      if (answered !== undefined) shown.set(part, answered)
      const last = answered ?? shown.get(part)
      return last && { answered: last, isOld: answered === undefined }
    },
  }
}

/** What a query is about: while another tab waits for its response, it does not show that of the tab before. */
function namePart({ id, operation, body }: Query): string {
  const [grouping] = 'group_by' in body ? (body.group_by ?? []) : []
  const isSeries = grouping?.startsWith('interval:')
  return JSON.stringify([id, operation, isSeries === true ? '' : grouping])
}

interface Asking {
  readonly isAsking: boolean
  /** Why the last request had no response. It is known until the next one ends. */
  readonly failure: Failure | undefined
}

interface AskingOptions {
  readonly api: Api
  /** Where the responses are kept. */
  readonly responses: Responses
  readonly queries: readonly Query[]
  readonly now: () => Date
  /** With another number what is missing is asked again. */
  readonly attempt?: number
}

/** How the last round ended. */
interface Settled {
  readonly round?: object
  /** What the request that failed was about, and why it did; undefined if it did not. */
  readonly queries?: readonly Query[]
  readonly failure?: Failure | undefined
}

/** Sends the queries that have no response yet, whenever they change. */
export function useMissing({ api, responses, queries, now, attempt = 0 }: AskingOptions): Asking {
  const [first] = useState(() => ({ begun: begin(api, queries) }))
  // Each change of the queries begins a round. The page is asking until that round is settled, from the first moment on.
  const round = useMemo(() => ({}), [api, queries, attempt])
  const [settled, setSettled] = useState<Settled>({})
  const [, draw] = useState({})
  useEffect(() => {
    // The same request would be refused again.
    if (settled.queries === queries && settled.failure?.canRetry === false) {
      setSettled({ ...settled, round })
      return
    }
    const missing = responses.listMissing(queries, now())
    const begun = first.begun ?? begin(api, missing)
    first.begun = undefined
    if (begun === undefined) {
      setSettled({ round })
      return
    }
    const { abort, results } = begun
    const read = async (): Promise<void> => {
      for await (const some of results) {
        responses.keep(missing, some, now())
        draw({})
      }
    }
    read().then(
      () => setSettled({ round }),
      (error: unknown) => {
        if (abort.signal.aborted) return
        const failure = error instanceof ApiFailure ? error.failure : describeFailure(undefined)
        setSettled({ round, queries, failure })
      },
    )
    return () => abort.abort()
  }, [round])
  return { isAsking: settled.round !== round, failure: settled.failure }
}

/** A request that is under way. */
interface Begun {
  readonly abort: AbortController
  readonly results: AsyncIterable<readonly BatchResult[]>
}

/** Begins a request, if there is something to ask. The first one leaves before the page is drawn, so that both go on at the same time. */
function begin(api: Api, queries: readonly Query[]): Begun | undefined {
  if (queries.length === 0) return undefined
  const abort = new AbortController()
  return { abort, results: api.ask(queries, abort.signal) }
}

/** Calls a function again and again while the page is looked at. Returns what ends that. */
export function repeatWhileVisible(browser: Window, ms: number, call: () => void): () => void {
  const timer = browser.setInterval(() => {
    if (browser.document.visibilityState === 'visible') call()
  }, ms)
  return () => browser.clearInterval(timer)
}
