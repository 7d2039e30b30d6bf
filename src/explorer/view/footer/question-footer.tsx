/** The footer of a part: the question that its numbers answer, to be asked elsewhere. */
import { useState } from 'preact/hooks'
import type { Question } from '../../client/contract.js'
import type { Parts } from '../shared/parts.js'
import { CodeTabs } from './code-tabs.js'

export interface FooterProps extends Parts {
  readonly question: Question | undefined
}

export function QuestionFooter({ question, ...parts }: FooterProps) {
  const [isOpen, setOpen] = useState(false)
  if (question === undefined) return null
  return (
    <details class="question" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>Question</summary>
      {isOpen && <CodeTabs question={question} asker={parts.access} />}
    </details>
  )
}
