/** The responses to the queries of the page: fetched when the queries change, and again while somebody looks. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createAnswers, type Answered, type Answers } from '../client/answers.js'
import type { Api } from '../client/api.js'
import type { BatchResult, Question } from '../client/contract.js'
import { ApiFailure, describeFailure, type Failure } from '../client/failure.js'

/** An answer, and whether it is to what was asked before. */
interface FoundAnswer {
  readonly answered: Answered
  readonly isOld: boolean
}

export interface ShownAnswers extends Asking {
  /** The answer to a question; while it is asked, the last one of the same part of the page. */
  readonly get: (question: Question) => FoundAnswer | undefined
  /** Asks the questions again. */
  readonly retry: () => void
  /** Asks everything again, also what was answered a moment ago. */
  readonly renew: () => void
}

/** How often a page that is looked at asks what is no longer fresh. */
const REFRESH_MS = 30_000

/** Sends the queries of the page, and keeps their responses. */
export function useAnswers(
  api: Api,
  questions: readonly Question[],
  browser: Window,
  now: () => Date,
): ShownAnswers {
  const answers = useRef(createAnswers()).current
  const shown = useRef(new Map<string, Answered>()).current
  const [attempt, setAttempt] = useState(0)
  const retry = useCallback(() => setAttempt((count) => count + 1), [])
  const renew = useCallback(() => {
    answers.clear()
    retry()
  }, [])
  const asking = useMissing({ api, answers, questions, now, attempt })
  useEffect(() => repeatWhileVisible(browser, REFRESH_MS, retry), [])
  return {
    ...asking,
    retry,
    renew,
    get: (question) => {
      const answered = answers.get(question)
      const part = namePart(question)
      if (answered !== undefined) shown.set(part, answered)
      const last = answered ?? shown.get(part)
      return last && { answered: last, isOld: answered === undefined }
    },
  }
}

/** What a question is about: while another tab waits for its answer, it does not show that of the tab before. */
function namePart({ id, operation, body }: Question): string {
  const [grouping] = 'group_by' in body ? (body.group_by ?? []) : []
  const isSeries = grouping?.startsWith('interval:')
  return JSON.stringify([id, operation, isSeries === true ? '' : grouping])
}

interface Asking {
  readonly isAsking: boolean
  /** Why the last request had no answer. It is known until the next one ends. */
  readonly failure: Failure | undefined
}

interface AskingOptions {
  readonly api: Api
  /** Where the answers are kept. */
  readonly answers: Answers
  readonly questions: readonly Question[]
  readonly now: () => Date
  /** With another number what is missing is asked again. */
  readonly attempt?: number
}

/** Sends the queries that have no response yet, whenever they change. */
export function useMissing({ api, answers, questions, now, attempt = 0 }: AskingOptions): Asking {
  const [first] = useState(() => ({ begun: begin(api, questions) }))
  // What is settled is about one of these, so that a change is asking at once.
  const round = useMemo(() => ({}), [api, questions, attempt])
  const [settled, setSettled] = useState<{ round?: object; failure?: Failure | undefined }>({})
  const [, draw] = useState({})
  useEffect(() => {
    const missing = answers.listMissing(questions, now())
    const begun = first.begun ?? begin(api, missing)
    first.begun = undefined
    if (begun === undefined) {
      setSettled({ round })
      return
    }
    const { abort, results } = begun
    const read = async (): Promise<void> => {
      for await (const some of results) {
        answers.keep(missing, some, now())
        draw({})
      }
    }
    read().then(
      () => setSettled({ round }),
      (error: unknown) => {
        if (abort.signal.aborted) return
        const failure = error instanceof ApiFailure ? error.failure : describeFailure(undefined)
        setSettled({ round, failure })
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
function begin(api: Api, questions: readonly Question[]): Begun | undefined {
  if (questions.length === 0) return undefined
  const abort = new AbortController()
  return { abort, results: api.ask(questions, abort.signal) }
}

/** Calls a function again and again while the page is looked at. Returns what ends that. */
export function repeatWhileVisible(browser: Window, ms: number, call: () => void): () => void {
  const timer = browser.setInterval(() => {
    if (browser.document.visibilityState === 'visible') call()
  }, ms)
  return () => browser.clearInterval(timer)
}
