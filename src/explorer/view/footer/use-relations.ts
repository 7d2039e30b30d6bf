/** Finds out which relations answer a question, by a request of its own for each question. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Api } from '../../client/api.js'
import type { Question } from '../../client/contract.js'
import { ENDPOINTS } from '../../code/endpoints.js'
import { listRelations } from '../../code/footer.js'

/** Returns the names of the relations; none until they are known, and if the operation does not say. */
export function useRelations(api: Api, question: Question): readonly string[] {
  const known = useRef(new Map<string, readonly string[]>()).current
  const [, setCount] = useState(0)
  const name = JSON.stringify([question.operation, question.body])
  useEffect(() => {
    if (known.has(name)) return
    // Once for each question: a plan that is not known is left out, and the numbers are there nevertheless.
    known.set(name, [])
    const { explainPath } = ENDPOINTS[question.operation]
    if (explainPath === undefined) return
    api.explain(explainPath, question.body).then(
      ({ plan }) => {
        known.set(name, listRelations(plan))
        setCount((count) => count + 1)
      },
      () => known.delete(name),
    )
  }, [api, name])
  return known.get(name) ?? []
}
