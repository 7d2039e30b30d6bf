/** The footer of a part: the question that its numbers answer, to be asked elsewhere, and how it was answered. */
import { useState } from 'preact/hooks'
import type { Question } from '../../client/contract.js'
import { ENDPOINTS } from '../../code/endpoints.js'
import { describeTiming } from '../../code/footer.js'
import type { Parts } from '../shared/parts.js'
import { CodeTabs } from './code-tabs.js'
import { CsvButton } from './csv-button.js'
import { useRelations } from './use-relations.js'

export interface FooterProps extends Parts {
  readonly question: Question | undefined
}

export function QuestionFooter({ question, ...parts }: FooterProps) {
  const [isOpen, setOpen] = useState(false)
  if (question === undefined) return null
  return (
    <details class="question" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>API query</summary>
      {isOpen && <Content {...parts} question={question} />}
    </details>
  )
}

function Content({ question, answers, access, api }: Parts & { readonly question: Question }) {
  const relations = useRelations(api, question)
  const found = answers.get(question)
  const timing = found?.isOld === false ? describeTiming(found.answered.result.timing) : ''
  return (
    <>
      <CodeTabs question={question} asker={access}>
        <CsvButton api={api} question={question} />
      </CodeTabs>
      <p class="answered">
        <code>POST {ENDPOINTS[question.operation].path}</code>
        {[relations.join(', '), timing]
          .filter((text) => text !== '')
          .map((text) => (
            <span key={text}> · {text}</span>
          ))}
      </p>
    </>
  )
}
