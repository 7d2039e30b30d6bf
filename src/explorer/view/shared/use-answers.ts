/** The answers to the questions of the page: asked when they change, and again while somebody looks. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { createAnswers, type Answered } from '../../client/answers.js'
import type { Api } from '../../client/api.js'
import type { Question } from '../../client/contract.js'
import { repeatWhileVisible } from './repeat-while-visible.js'
import { useMissing, type Asking } from './use-missing.js'

/** An answer, and whether it is to what was asked before. */
export interface FoundAnswer {
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
