/** The footer of a part: the question that its numbers answer. */
import type { Question } from '../../client/contract.js'
import type { Parts } from './parts.js'

export function QuestionFooter({ question }: Parts & { readonly question: Question | undefined }) {
  if (question === undefined) return null
  return (
    <details class="question">
      <summary>Question</summary>
      <pre data-question={question.operation}>{JSON.stringify(question.body, null, 2)}</pre>
    </details>
  )
}
