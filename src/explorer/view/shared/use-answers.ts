/** Asks what the page does not know yet, in one request for each change of its state. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { createAnswers, type Answered } from '../../client/answers.js'
import type { Api } from '../../client/api.js'
import { ApiFailure, describeFailure, type Failure } from '../../client/failure.js'
import type { Question } from '../../client/contract.js'

export interface ShownAnswers {
  /** The answer to a question; while it is asked, the last one of the same part of the page, which is then `isOld`. */
  readonly get: (
    question: Question,
  ) => { readonly answered: Answered; readonly isOld: boolean } | undefined
  readonly isAsking: boolean
  /** Why the last request had no answer. */
  readonly failure: Failure | undefined
  /** Asks the questions again. */
  readonly retry: () => void
}

export function useAnswers(
  api: Api,
  questions: readonly Question[],
  now: () => Date,
): ShownAnswers {
  const answers = useRef(createAnswers()).current
  const shown = useRef(new Map<string, Answered>()).current
  const [attempt, setAttempt] = useState(0)
  const [status, setStatus] = useState<{ isAsking: boolean; failure?: Failure }>({ isAsking: true })
  const asked = JSON.stringify(questions)
  useEffect(() => {
    const missing = answers.listMissing(questions, now())
    if (missing.length === 0) {
      setStatus({ isAsking: false })
      return
    }
    const abort = new AbortController()
    setStatus({ isAsking: true })
    api.ask(missing, abort.signal).then(
      (results) => {
        answers.keep(missing, results, now())
        setStatus({ isAsking: false })
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        const failure = error instanceof ApiFailure ? error.failure : describeFailure(undefined)
        setStatus({ isAsking: false, failure })
      },
    )
    return () => abort.abort()
  }, [api, asked, attempt])
  const retry = useCallback(() => setAttempt((count) => count + 1), [])
  return {
    ...status,
    failure: status.failure,
    retry,
    get: (question) => {
      const answered = answers.get(question)
      if (answered !== undefined) shown.set(question.id, answered)
      const last = answered ?? shown.get(question.id)
      return last && { answered: last, isOld: answered === undefined }
    },
  }
}
