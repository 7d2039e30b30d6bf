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
import { findShown, type Parts } from './parts.js'

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

export function ShareMenu({ asked, project, totals, ...parts }: ShareMenuProps) {
  const { state, api, ownZone, access } = parts
  const [message, setMessage] = useState('')
  const shown = findShown(parts, totals)
  const zone = state.zone ?? ownZone
  const copyLink = async (response: QueryResponse): Promise<void> => {
    const query = formatState(fixDates(state, response, zone))
    const link = `${location.origin}${location.pathname}?${query}`
    try {
      await navigator.clipboard.writeText(link)
      setMessage('Copied')
    } catch {
      setMessage(link)
    }
  }
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
          <button
            disabled={shown.kind !== 'ready' || shown.isOld}
            onClick={() => shown.kind === 'ready' && void copyLink(shown.body)}
          >
            Copy a link with fixed dates
          </button>
          <button onClick={() => void saveAll()}>All panels as CSV, with all metrics</button>
          {project?.hasPublicDashboard === true && (
            <a href={`${access.base}/share/${project.id}`}>Public dashboard</a>
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
