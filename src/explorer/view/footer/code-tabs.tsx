/** A question as code, in the form that is chosen. */
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Question } from '../../client/contract.js'
import { formatCurl, formatProgram, type CodePart } from '../../code/code.js'
import type { Asker } from '../../code/endpoints.js'
import { formatJson } from '../../code/literals.js'
import { CopyButton } from './copy-button.js'

/** The forms. A new one is a row. */
const FORMS: readonly {
  readonly name: string
  readonly write: (question: Question, asker: Asker) => readonly CodePart[]
}[] = [
  { name: 'JSON', write: ({ body }) => [formatJson(body)] },
  { name: 'curl', write: formatCurl },
  { name: 'TypeScript', write: (question, asker) => [formatProgram(question, asker)] },
]

export function CodeTabs({
  question,
  asker,
  children,
}: {
  readonly question: Question
  readonly asker: Asker
  /** Further buttons. */
  readonly children: ComponentChildren
}) {
  const [chosen, setChosen] = useState(0)
  const code = useRef<HTMLPreElement>(null)
  const { name, write } = FORMS[chosen] ?? { name: '', write: () => [] }
  return (
    <>
      <div class="forms">
        <div role="group" aria-label="Form of the question">
          {FORMS.map((form, i) => (
            <button key={form.name} aria-pressed={i === chosen} onClick={() => setChosen(i)}>
              {form.name}
            </button>
          ))}
        </div>
        <CopyButton code={code} />
        {children}
      </div>
      <pre ref={code} tabIndex={0} role="group" aria-label={`Question as ${name}`} data-form={name}>
        {write(question, asker).map((part, i) =>
          typeof part === 'string' ? (
            part
          ) : (
            <span key={i} class="secret" tabIndex={0} title="The key of this tab">
              {part.secret}
            </span>
          ),
        )}
      </pre>
    </>
  )
}
