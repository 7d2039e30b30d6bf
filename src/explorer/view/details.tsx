/** The dialog with all rows of a tab: the search, the rows that it finds, and their pages. */
import type { QueryResponse, Query, ShownMetric } from '../client/contract.js'
import { describeRows, findLastPage, formatCount } from '../format/numbers.js'
import { findDetailsTab, getOrder, getView, type Order } from '../queries/details.js'
import { describeLimits, type KnownValues } from '../queries/filters.js'
import { findAnchor } from '../queries/journeys.js'
import { subtract } from '../queries/metrics.js'
import { nameTab, type Tab } from '../queries/panels.js'
import { isCompared } from '../queries/scope.js'
import { changeDetails, closeDetails, openDetails, set } from '../state/changes.js'
import { DETAILS_VIEWS, type Details, type DetailsView } from '../state/state.js'
import { useDebounced } from './controls.js'
import { DetailsTable } from './details-table.js'
import { Dialog, DialogScope } from './dialog.js'
import { FailureNote, findShown, type Parts } from './parts.js'
import { CsvButton, QueryMenu } from './query-menu.js'

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

interface DetailsButtonsProps extends Pick<Parts, 'state' | 'change' | 'api'> {
  readonly tab: Tab
  readonly query: Query
  /** What the tab shows: its first rows. */
  readonly response: QueryResponse
}

/**
 * Opens the dialog of a tab: all its rows, or those that differ most from the other period; or for pages and events, what visits do next.
 * Or saves the rows.
 */
export function DetailsButtons({
  tab: { id, metric },
  query,
  response,
  state,
  change,
  api,
}: DetailsButtonsProps) {
  const { data, pagination } = response
  const anchor = findAnchor(id, state, data[0]?.group[id] ?? '')
  return (
    <div class="open-details">
      {pagination.total > data.length && (
        <span class="quiet">
          {data.length} of {formatCount(pagination.total)} rows
        </span>
      )}
      <button
        aria-label={`Details: ${nameTab(id)}`}
        onClick={() => change(openDetails(id, metric))}
      >
        Details
      </button>
      {isCompared(state) && (
        <button
          aria-label={`Movers: ${nameTab(id)}`}
          onClick={() => change(openDetails(id, metric, 'difference'))}
        >
          Movers
        </button>
      )}
      {anchor !== undefined && (
        <button
          aria-label={`Journeys: ${nameTab(id)}`}
          title="What visits do next, step by step"
          onClick={() => change(set({ journeys: { anchor, direction: 'from', steps: 'pages' } }))}
        >
          Journeys
        </button>
      )}
      <CsvButton api={api} query={query} of={nameTab(id)} />
    </div>
  )
}

const VIEW_NAMES: Readonly<Record<DetailsView, string>> = {
  value: 'Values',
  difference: 'Differences',
  change: 'Changes',
}

interface ViewSwitchProps extends Pick<Parts, 'change'> {
  readonly view: DetailsView
  readonly tab: Tab
  readonly order: Order
}

/** Chooses what the cells are about, and for differences which of them come first. */
function ViewSwitch({ view, tab, order: { orderBy, direction }, change }: ViewSwitchProps) {
  const metric = orderBy === tab.id ? tab.metric : orderBy
  return (
    <>
      <div class="switch" role="group" aria-label="What is shown">
        {DETAILS_VIEWS.map((one) => (
          <button
            key={one}
            class="control"
            aria-pressed={one === view}
            onClick={() => change(changeDetails({ view: one }))}
          >
            {VIEW_NAMES[one]}
          </button>
        ))}
      </div>
      {view !== 'value' && (
        <div class="switch" role="group" aria-label="Order">
          {(['desc', 'asc'] as const).map((one) => (
            <button
              key={one}
              class="control"
              aria-pressed={one === direction && orderBy === metric}
              onClick={() => change(changeDetails({ orderBy: metric, direction: one }))}
            >
              {one === 'desc' ? 'Largest gains' : 'Largest losses'}
            </button>
          ))}
        </div>
      )}
    </>
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

/** Says that there is nothing to compare with, or that there are no losses or gains where the largest ones come first; else undefined. */
function describeNone(
  tab: Tab,
  { orderBy, direction }: Order,
  { data: [first], pagination: { offset } }: QueryResponse,
): string | undefined {
  if (first === undefined) return undefined
  if (first.comparison === undefined) {
    return 'Nothing to compare with: the other period begins before the first event.'
  }
  const metric = (orderBy === tab.id ? tab.metric : orderBy) as ShownMetric
  const difference = subtract(first.metrics[metric], first.comparison.metrics[metric])
  if (difference === undefined || offset > 0) return undefined
  if (direction === 'asc') return difference < 0 ? undefined : 'No row has lost.'
  return difference > 0 ? undefined : 'No row has gained.'
}

/** What the dialog shows. */
function DetailsContent({ tab, details, rows, values, known, ...parts }: DetailsContentProps) {
  const { change } = parts
  const [order, view] = [getOrder(tab, details, parts.state), getView(parts.state, details)]
  const shown = findShown(parts, rows ?? values)
  const search = details.search.trim()
  const limits =
    search === '' || values === undefined || known === undefined
      ? undefined
      : describeLimits(tab.id, search, known)
  const none =
    shown.kind === 'ready' && !shown.isOld && rows !== undefined && view !== 'value'
      ? describeNone(tab, order, shown.body)
      : undefined
  return (
    <>
      <div class="tools">
        <DetailsSearch tab={tab} details={details} change={change} />
        {isCompared(parts.state) && <ViewSwitch {...{ view, tab, order, change }} />}
        <div class="saved">
          {rows !== undefined && <CsvButton api={parts.api} query={rows} of={nameTab(tab.id)} />}
          <QueryMenu {...parts} query={rows} of="Details" />
        </div>
      </div>
      {shown.kind === 'ready' && rows !== undefined && !shown.isOld && (
        <DialogScope {...parts} response={shown.body} />
      )}
      {limits !== undefined && <p class="limits">{limits}</p>}
      {none !== undefined && <p class="limits">{none}</p>}
      {shown.kind === 'failed' && <FailureNote {...parts} failure={shown.failure} />}
      {shown.kind !== 'failed' && (rows === undefined || shown.kind === 'waiting') && (
        <p class="loading">…</p>
      )}
      {shown.kind === 'ready' && rows !== undefined && (
        <>
          <DetailsTable
            tab={tab}
            order={order}
            view={view}
            rows={shown.body.data}
            isOld={shown.isOld}
            page={details.page}
            state={parts.state}
            change={change}
            site={parts.site}
          />
          <Pages
            pagination={shown.body.pagination}
            onPage={(page) => change(changeDetails({ page }))}
          />
        </>
      )}
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
export function Pages({ pagination, onPage }: PagesProps) {
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
