/** Asks what a text may mean. */
import { useMemo, useRef } from 'preact/hooks'
import { createAnswers } from '../../client/answers.js'
import type { QueryAnswer } from '../../client/contract.js'
import { buildSearchQuestions, listSuggestions, type Suggestion } from '../../questions/search.js'
import type { Parts } from '../shared/parts.js'
import { useMissing } from '../shared/use-missing.js'

export interface SuggestionSource extends Pick<Parts, 'state' | 'api'> {
  readonly now: () => Date
  /** The names of the properties that are searched. */
  readonly properties: readonly string[]
}

export interface Suggestions {
  /** Whether they are those of the text. */
  readonly isReady: boolean
  readonly suggestions: readonly Suggestion[]
  /** Why there are none, if the request had no answer. */
  readonly failure: string | undefined
}

/** @param text what is searched; nothing is asked while it is empty */
export function useSuggestions(
  { state, api, now, properties }: SuggestionSource,
  text: string,
): Suggestions {
  const { period, zone } = state
  const answers = useRef(createAnswers()).current
  const scope = JSON.stringify([period, zone])
  const questions = useMemo(
    () => (text === '' ? [] : buildSearchQuestions(state, properties, text)),
    [text, scope, JSON.stringify(properties)],
  )
  const { isAsking, failure } = useMissing({ api, answers, questions, now })
  const known = questions.flatMap((question) => {
    const body = answers.get(question)?.result.body
    return body === undefined || 'error' in body
      ? []
      : [[question.id, body as QueryAnswer] as const]
  })
  return {
    isReady: !isAsking,
    suggestions: isAsking || text === '' ? [] : listSuggestions(text, known),
    failure: isAsking ? undefined : failure?.message,
  }
}
