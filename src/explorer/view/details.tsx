/** The dialog with all rows of a tab: the search, the rows that it finds, and their pages. */
import type { QueryResponse, Query } from '../client/contract.js'
import { describeRows, findLastPage } from '../format/numbers.js'
import { findDetailsTab, getOrder } from '../queries/details.js'
import { describeLimits, type KnownValues } from '../queries/filters.js'
import { nameTab, type Tab } from '../queries/panels.js'
import { changeDetails, closeDetails, openDetails } from '../state/changes.js'
import type { Details } from '../state/state.js'
import { useDebounced } from './controls.js'
import { DetailsTable } from './details-table.js'
import { Dialog } from './dialog.js'
import { FailureNote, findShown, type Parts } from './parts.js'
import { QueryFooter } from './query-footer.js'

/** The dialog of the state; nothing while none is open. */
export function DetailsDialog(props: Omit<DetailsContentProps, 'tab' | 'details'>) {
  const { details } = props.state
  const tab = details && findDetailsTab(details.tab)
  if (details === undefined || tab === undefined) return null
  return (
    <Dialog key={tab.id} title={nameTab(tab.id)} onClose={() => props.change(closeDetails)}>
      <DetailsContent {...props} tab={tab} details={details} />
    </Dialog>
  )
}

/** Opens the dialog of a tab. */
export function DetailsButton({ tab, change }: Pick<Parts, 'change'> & { readonly tab: Tab }) {
  return (
    <button
      class="open-details"
      aria-label={`Details: ${nameTab(tab.id)}`}
      onClick={() => change(openDetails(tab.id, tab.metric))}
    >
      Details
    </button>
  )
}

interface DetailsContentProps extends Parts {
  readonly tab: Tab
  readonly details: Details
  /** The query about the rows; undefined until a search has the values that it needs. */
  readonly rows: Query | undefined
  /** The query about the values that can be searched, for fields that need it. */
  readonly values: Query | undefined
  readonly known: KnownValues | undefined
}

/** What the dialog shows. */
function DetailsContent({ tab, details, rows, values, known, ...parts }: DetailsContentProps) {
  const { change } = parts
  const shown = findShown(parts, rows ?? values)
  const search = details.search.trim()
  const limits =
    search === '' || values === undefined || known === undefined
      ? undefined
      : describeLimits(tab.id, search, known)
  return (
    <>
      <DetailsSearch tab={tab} details={details} change={change} />
      {limits !== undefined && <p class="limits">{limits}</p>}
      {shown.kind === 'failed' && <FailureNote {...parts} failure={shown.failure} />}
      {shown.kind !== 'failed' && (rows === undefined || shown.kind === 'waiting') && (
        <p class="loading">…</p>
      )}
      {shown.kind === 'ready' && rows !== undefined && (
        <>
          <DetailsTable
            tab={tab}
            order={getOrder(tab, details)}
            rows={shown.body.data}
            isOld={shown.isOld}
            page={details.page}
            change={change}
          />
          <Pages
            pagination={shown.body.pagination}
            onPage={(page) => change(changeDetails({ page }))}
          />
        </>
      )}
      <QueryFooter {...parts} query={rows} />
    </>
  )
}

interface DetailsSearchProps extends Pick<Parts, 'change'> {
  readonly tab: Tab
  readonly details: Details
}

/** The search of the dialog. */
function DetailsSearch({ tab, details, change }: DetailsSearchProps) {
  const [text, type] = useDebounced(details.search, (search) => change(changeDetails({ search })))
  return (
    <input
      type="search"
      class="control"
      name="details-search"
      aria-label={`Search ${tab.name}`}
      placeholder={`Search ${tab.name.toLowerCase()}`}
      maxLength={200}
      autocomplete="off"
      value={text}
      onInput={({ currentTarget: { value } }) => type(value)}
      autofocus
    />
  )
}

interface PagesProps {
  readonly pagination: QueryResponse['pagination']
  /** @param page from 0 */
  readonly onPage: (page: number) => void
}

/** Which rows are shown, and the way to the others. */
function Pages({ pagination, onPage }: PagesProps) {
  const page = pagination.offset / pagination.limit
  const last = findLastPage(pagination)
  return (
    <div class="pages" role="group" aria-label="Pages">
      <p role="status">{describeRows(pagination)}</p>
      <button
        class="control"
        disabled={page === 0}
        onClick={() => onPage(Math.min(page - 1, last))}
      >
        ‹ Previous
      </button>
      <button class="control" disabled={page >= last} onClick={() => onPage(page + 1)}>
        Next ›
      </button>
    </div>
  )
}
