/** The answers that the page has, by their questions, so that only what changed is asked. */
import type { BatchResult, Question } from './contract.js'

/** How long an answer is shown again without being asked again: a moment ago is as good as now. */
const FRESH_MS = 4 * 60_000
/** The same for who is there now. */
const FRESH_NOW_MS = 25_000

export interface Answers {
  /** Those of the questions that have to be asked. */
  readonly listMissing: (questions: readonly Question[], now: Date) => readonly Question[]
  /** Keeps results of some of the questions. */
  readonly keep: (
    questions: readonly Question[],
    results: readonly BatchResult[],
    now: Date,
  ) => void
  readonly get: (question: Question) => Answered | undefined
  /** Forgets all answers. */
  readonly clear: () => void
}

/** A result, and when it was given. */
export interface Answered {
  readonly result: BatchResult
  readonly at: Date
}

/** Creates an empty store of answers. */
export function createAnswers(): Answers {
  const kept = new Map<string, Answered>()
  const get = (question: Question): Answered | undefined => kept.get(identify(question))
  return {
    get,
    clear: () => kept.clear(),
    listMissing: (questions, now) =>
      questions.filter((question) => {
        const at = get(question)?.at
        const isFreshFor = question.id === 'now' ? FRESH_NOW_MS : FRESH_MS
        return at === undefined || now.getTime() - at.getTime() > isFreshFor
      }),
    keep: (questions, results, at) => {
      for (const result of results) {
        const question = questions.find(({ id }) => id === result.id)
        // A failure may be over by the next time.
        if (question !== undefined)
          kept.set(identify(question), { result, at: result.status === 200 ? at : new Date(0) })
      }
      for (const [id] of kept) {
        if (kept.size <= MAX_ANSWERS) break
        kept.delete(id)
      }
    },
  }
}

const MAX_ANSWERS = 500

const identify = ({ operation, body }: Question): string => JSON.stringify([operation, body])
