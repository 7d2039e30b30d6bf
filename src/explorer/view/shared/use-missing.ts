/** Asks the questions that have no answer yet, whenever they change. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Answers } from '../../client/answers.js'
import type { Api } from '../../client/api.js'
import type { BatchResult, Question } from '../../client/contract.js'
import { ApiFailure, describeFailure, type Failure } from '../../client/failure.js'

export interface Asking {
  readonly isAsking: boolean
  /** Why the last request had no answer. It is known until the next one ends. */
  readonly failure: Failure | undefined
}

export interface AskingOptions {
  readonly api: Api
  /** Where the answers are kept. */
  readonly answers: Answers
  readonly questions: readonly Question[]
  readonly now: () => Date
  /** With another number what is missing is asked again. */
  readonly attempt?: number
}

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
