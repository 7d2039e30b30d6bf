/** Asks what the page does not know yet, in one request for each change of its state. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { createAnswers, type Answered } from '../../client/answers.js'
import type { Api } from '../../client/api.js'
import type { BatchResult, Question } from '../../client/contract.js'
import { ApiFailure, describeFailure, type Failure } from '../../client/failure.js'

/** An answer, and whether it is to what was asked before. */
export interface FoundAnswer {
  readonly answered: Answered
  readonly isOld: boolean
}

export interface ShownAnswers {
  /** The answer to a question; while it is asked, the last one of the same part of the page. */
  readonly get: (question: Question) => FoundAnswer | undefined
  readonly isAsking: boolean
  /** Why the last request had no answer. */
  readonly failure: Failure | undefined
  /** Asks the questions again. */
  readonly retry: () => void
}

/** How often a page that is looked at asks what is no longer fresh. */
const REFRESH_MS = 30_000

export function useAnswers(
  api: Api,
  questions: readonly Question[],
  browser: Window,
  now: () => Date,
): ShownAnswers {
  const answers = useRef(createAnswers()).current
  const shown = useRef(new Map<string, Answered>()).current
  const [first] = useState<{ begun: Begun | undefined }>(() => ({ begun: begin(api, questions) }))
  const [attempt, setAttempt] = useState(0)
  const [status, setStatus] = useState<Pick<ShownAnswers, 'isAsking' | 'failure'>>({
    isAsking: true,
    failure: undefined,
  })
  const retry = useCallback(() => setAttempt((count) => count + 1), [])
  useEffect(() => {
    const missing = answers.listMissing(questions, now())
    if (missing.length === 0) {
      setStatus({ isAsking: false, failure: undefined })
      return
    }
    const { abort, results: asked } = first.begun ?? begin(api, missing)
    first.begun = undefined
    setStatus(({ failure }) => ({ isAsking: true, failure }))
    asked.then(
      (results) => {
        answers.keep(missing, results, now())
        setStatus({ isAsking: false, failure: undefined })
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        const failure = error instanceof ApiFailure ? error.failure : describeFailure(undefined)
        setStatus({ isAsking: false, failure })
      },
    )
    return () => abort.abort()
  }, [api, questions, attempt])
  useEffect(() => repeatWhileVisible(browser, retry), [])
  return {
    ...status,
    retry,
    get: (question) => {
      const answered = answers.get(question)
      const part = namePart(question)
      if (answered !== undefined) shown.set(part, answered)
      const last = answered ?? shown.get(part)
      return last && { answered: last, isOld: answered === undefined }
    },
  }
}

/** A request that is under way. */
interface Begun {
  readonly abort: AbortController
  readonly results: Promise<readonly BatchResult[]>
}

/** Begins a request. The first one leaves before the page is drawn, so that both go on at the same time. */
function begin(api: Api, questions: readonly Question[]): Begun {
  const abort = new AbortController()
  return { abort, results: api.ask(questions, abort.signal) }
}

/** What a question is about: while another tab waits for its answer, it does not show that of the tab before. */
function namePart({ id, operation, body }: Question): string {
  const [grouping] = 'group_by' in body ? (body.group_by ?? []) : []
  const isSeries = grouping?.startsWith('interval:')
  return JSON.stringify([id, operation, isSeries === true ? '' : grouping])
}

/** Calls a function again and again while the page is looked at. Returns what ends that. */
function repeatWhileVisible(browser: Window, call: () => void): () => void {
  const timer = browser.setInterval(() => {
    if (browser.document.visibilityState === 'visible') call()
  }, REFRESH_MS)
  return () => browser.clearInterval(timer)
}
