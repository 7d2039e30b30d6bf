/** Asks what a text may mean. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createAnswers } from '../../client/answers.js'
import type { QueryAnswer } from '../../client/contract.js'
import { ApiFailure } from '../../client/failure.js'
import { buildSearchQuestions, listSuggestions, type Suggestion } from '../../questions/search.js'
import type { Parts } from '../shared/parts.js'

export interface SuggestionSource extends Pick<Parts, 'state' | 'api'> {
  readonly now: () => Date
}

export interface Suggestions {
  /** Whether they are those of the text. */
  readonly isReady: boolean
  readonly suggestions: readonly Suggestion[]
  /** Why there are none, if the request had no answer. */
  readonly failure: string | undefined
}

/** @param text what is searched; nothing is asked while it is empty */
export function useSuggestions({ state, api, now }: SuggestionSource, text: string): Suggestions {
  const { period, zone } = state
  const answers = useRef(createAnswers()).current
  const [done, setDone] = useState<{ text: string; failure?: string }>({ text: '' })
  const questions = useMemo(
    () => (text === '' ? [] : buildSearchQuestions(state, text)),
    [text, JSON.stringify([period, zone])],
  )
  useEffect(() => {
    const missing = answers.listMissing(questions, now())
    if (missing.length === 0) {
      setDone({ text })
      return
    }
    const abort = new AbortController()
    api.ask(missing, abort.signal).then(
      (results) => {
        answers.keep(missing, results, now())
        setDone({ text })
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        setDone({ text, failure: error instanceof ApiFailure ? error.message : String(error) })
      },
    )
    return () => abort.abort()
  }, [api, questions])
  const isReady = done.text === text
  const known = questions.flatMap((question) => {
    const body = answers.get(question)?.result.body
    return body === undefined || 'error' in body
      ? []
      : [[question.id, body as QueryAnswer] as const]
  })
  return {
    isReady,
    suggestions: isReady && text !== '' ? listSuggestions(text, known) : [],
    failure: isReady ? done.failure : undefined,
  }
}
