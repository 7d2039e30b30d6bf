/** Remembers the values of the field that the dialog shows, from which later questions are built. */
import { useEffect } from 'preact/hooks'
import type { Question } from '../../client/contract.js'
import type { KnownValues } from '../../questions/filters.js'
import { findShown, type Parts } from '../shared/parts.js'

/** @param question the question about the values, if the state has one; @param remember called with its answer */
export function useKnownValues(
  { answers }: Pick<Parts, 'answers'>,
  question: Question | undefined,
  remember: (known: KnownValues) => void,
): void {
  const shown = findShown({ answers }, question)
  // Other answers may still be on their way, and questions that change now would ask for them again.
  const isThere = shown.kind === 'ready' && !shown.isOld && !answers.isAsking
  const body = isThere ? shown.body : undefined
  useEffect(() => {
    if (body === undefined || question === undefined) return
    remember({
      asked: JSON.stringify(question.body),
      values: body.data.flatMap(({ group }) => Object.values(group)),
      total: body.pagination.total,
    })
  }, [body])
}
