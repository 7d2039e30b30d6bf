/** The menu with what people take with them: links to what they see, all panels as files, and paper. */
import { useState } from 'preact/hooks'
import type { Project, QueryResponse, Query } from '../client/contract.js'
import { ApiFailure } from '../client/failure.js'
import { nameTable } from '../code/footer.js'
import { buildExports } from '../queries/details.js'
import { ENDPOINTS } from '../code/endpoints.js'
import { formatState } from '../state/address.js'
import { fixPeriod } from '../state/periods.js'
import type { AskedState, ExplorerState } from '../state/state.js'
import { saveFile } from './save-file.js'
import { Menu } from './menu.js'
import { findShown, type Parts, type Shown } from './parts.js'

interface ShareMenuProps extends Parts {
  readonly asked: AskedState
  readonly project: Project | undefined
  /** The query about the whole period, whose response says when that begins and ends. */
  readonly totals: Query | undefined
}

/** Returns a state that shows the numbers of a response at any time. */
const fixDates = (
  state: ExplorerState,
  { period, comparison }: QueryResponse,
  zone: string,
): ExplorerState => ({
  ...state,
  zone,
  period: fixPeriod(period, zone),
  // A period before these dates would have other ends than one before a preset.
  comparison: comparison === undefined ? 'off' : fixPeriod(comparison.period, zone),
})

interface LinkButtonProps extends Pick<Parts, 'state' | 'ownZone'> {
  readonly text: string
  readonly title?: string
  /** The address of the page to which the link leads. */
  readonly page: string
  readonly shown: Shown<QueryResponse>
  /** Is told what came of it. */
  readonly onMessage: (message: string) => void
}

/** Copies a link to the numbers that are shown, with the dates that they are of. */
function LinkButton({ text, title, page, shown, onMessage, state, ownZone }: LinkButtonProps) {
  const copy = async (response: QueryResponse): Promise<void> => {
    const fixed = fixDates(state, response, state.zone ?? ownZone)
    const link = `${page}?${formatState(fixed)}`
    try {
      await navigator.clipboard.writeText(link)
      onMessage('Copied')
    } catch {
      onMessage(link)
    }
  }
  return (
    <button
      title={title}
      disabled={shown.kind !== 'ready' || shown.isOld}
      onClick={() => shown.kind === 'ready' && void copy(shown.body)}
    >
      {text}
    </button>
  )
}

export function ShareMenu({ asked, project, totals, ...parts }: ShareMenuProps) {
  const { state, api, access } = parts
  const [message, setMessage] = useState('')
  const link = { ...parts, shown: findShown(parts, totals), onMessage: setMessage }
  const dashboard =
    project?.hasPublicDashboard === true ? `${access.base}/share/${project.id}` : undefined
  const saveAll = async (): Promise<void> => {
    setMessage('Reading …')
    try {
      for (const query of buildExports(asked)) {
        const { path } = ENDPOINTS[query.operation]
        const { content, period } = await api.readTable({ path, body: query.body })
        saveFile(content, nameTable(query, period))
      }
      setMessage('Downloaded')
    } catch (error) {
      setMessage(`No file: ${error instanceof ApiFailure ? error.message : String(error)}`)
    }
  }
  return (
    <Menu text="Share" label="Export and share" class="share">
      {(close) => (
        <>
          <LinkButton
            {...link}
            text="Copy a link with fixed dates"
            title="Readers need a key of the project, unless this page is public."
            page={`${location.origin}${location.pathname}`}
          />
          {dashboard !== undefined && (
            <LinkButton {...link} text="Copy a public link with fixed dates" page={dashboard} />
          )}
          <button onClick={() => void saveAll()}>All panels as CSV, with all metrics</button>
          {dashboard !== undefined && (
            <a href={`${dashboard}?${formatState(state)}`} target="_blank" rel="noreferrer">
              Public dashboard
            </a>
          )}
          <button
            onClick={() => {
              close()
              print()
            }}
          >
            Print
          </button>
          <p role="status">{message}</p>
        </>
      )}
    </Menu>
  )
}
