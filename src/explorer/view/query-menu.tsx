/** The menu of a part: the query that its numbers answer, to be sent elsewhere, and how it was answered. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Api } from '../client/api.js'
import type { Query } from '../client/contract.js'
import { ApiFailure } from '../client/failure.js'
import { formatCurl, formatProgram, type CodePart } from '../code/code.js'
import { ENDPOINTS, type ApiAccess } from '../code/endpoints.js'
import { buildTableRequest, describeTiming, listRelations, nameTable } from '../code/footer.js'
import { formatJson } from '../code/literals.js'
import { CopyButton } from './controls.js'
import { Menu } from './menu.js'
import type { Parts } from './parts.js'
import { saveFile } from './save-file.js'

/** What the menu needs of its page. */
type QueryParts = Pick<Parts, 'responses' | 'access' | 'api'>

interface QueryMenuProps extends QueryParts {
  readonly query: Query | undefined
  /** The name of the part. */
  readonly of: string
}

export function QueryMenu({ query, of, ...parts }: QueryMenuProps) {
  const [isOpen, setOpen] = useState(false)
  if (query === undefined) return null
  return (
    <Menu text="⋯" label={`API query: ${of}`} class="query" onToggle={setOpen}>
      {() => isOpen && <Content {...parts} query={query} of={of} />}
    </Menu>
  )
}

function Content({ query, of, responses, access, api }: QueryParts & CsvButtonProps) {
  const relations = useRelations(api, query)
  const found = responses.get(query)
  const timing = found?.isOld === false ? describeTiming(found.answered.result.timing) : ''
  return (
    <>
      <CodeTabs query={query} access={access}>
        {ENDPOINTS[query.operation].nameContent && <CsvButton api={api} query={query} of={of} />}
      </CodeTabs>
      <p class="answered">
        <code>POST {ENDPOINTS[query.operation].path}</code>
        {[relations.join(', '), timing]
          .filter((text) => text !== '')
          .map((text) => (
            <span key={text}> · {text}</span>
          ))}
      </p>
    </>
  )
}

/**
 * Finds out which relations answer a query, by a request of its own for each query.
 *
 * @returns the names of the relations; none until they are known, and if the operation does not say
 */
function useRelations(api: Api, query: Query): readonly string[] {
  const known = useRef(new Map<string, readonly string[]>()).current
  const [, setCount] = useState(0)
  const name = JSON.stringify([query.operation, query.body])
  useEffect(() => {
    if (known.has(name)) return
    // Once for each query: a plan that is not known is left out, and the numbers are there nevertheless.
    known.set(name, [])
    const { explainPath } = ENDPOINTS[query.operation]
    if (explainPath === undefined) return
    api.explain(explainPath, query.body).then(
      ({ plan }) => {
        known.set(name, listRelations(plan))
        setCount((count) => count + 1)
      },
      () => known.delete(name),
    )
  }, [api, name])
  return known.get(name) ?? []
}

/** The forms. A new one is a row. */
const FORMS: readonly {
  readonly name: string
  readonly write: (query: Query, access: ApiAccess) => readonly CodePart[]
}[] = [
  { name: 'JSON', write: ({ body }) => [formatJson(body)] },
  { name: 'curl', write: formatCurl },
  { name: 'TypeScript', write: (query, access) => [formatProgram(query, access)] },
]

/** A query as code, in the form that is chosen. */
function CodeTabs({
  query,
  access,
  children,
}: {
  readonly query: Query
  readonly access: ApiAccess
  /** Further buttons. */
  readonly children: ComponentChildren
}) {
  const [chosen, setChosen] = useState(0)
  const code = useRef<HTMLPreElement>(null)
  const { name, write } = FORMS[chosen] ?? { name: '', write: () => [] }
  return (
    <>
      <div class="forms">
        <div role="group" aria-label="Form of the query">
          {FORMS.map((form, i) => (
            <button key={form.name} aria-pressed={i === chosen} onClick={() => setChosen(i)}>
              {form.name}
            </button>
          ))}
        </div>
        <CopyButton code={code} />
        {children}
      </div>
      <pre ref={code} tabIndex={0} role="group" aria-label={`Query as ${name}`} data-form={name}>
        {write(query, access).map((part, i) =>
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

interface CsvButtonProps extends Pick<Parts, 'api'> {
  readonly query: Query
  /** The name of the part. */
  readonly of: string
}

/** Downloads the response to a query as CSV, with all its rows. */
export function CsvButton({ api, query, of }: CsvButtonProps) {
  const [status, setStatus] = useState<{ isBusy: boolean; message: string }>(IDLE)
  // What is said about a query is not about the next one.
  useEffect(() => setStatus(IDLE), [query])
  const download = async (): Promise<void> => {
    setStatus({ isBusy: true, message: '' })
    try {
      const { content, period } = await api.readTable(buildTableRequest(query))
      saveFile(content, nameTable(query, period))
      setStatus({ isBusy: false, message: 'Downloaded' })
    } catch (error) {
      const reason = error instanceof ApiFailure ? error.message : String(error)
      setStatus({ isBusy: false, message: `No file: ${reason}` })
    }
  }
  return (
    <>
      {/* A button that is disabled loses the focus, and the menu would close. */}
      <button
        class="csv"
        aria-label={`CSV: ${of}`}
        title="Download all rows"
        aria-disabled={status.isBusy}
        onClick={() => !status.isBusy && void download()}
      >
        CSV
      </button>
      <span role="status">{status.message}</span>
    </>
  )
}

const IDLE = { isBusy: false, message: '' }
