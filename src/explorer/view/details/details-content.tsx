/** What the dialog shows: the search, the rows that it finds, and their pages. */
import { getOrder } from '../../questions/details.js'
import { describeLimits, type KnownValues } from '../../questions/filters.js'
import type { Tab } from '../../questions/panels.js'
import type { Question } from '../../client/contract.js'
import { changeDetails } from '../../state/changes.js'
import type { Details } from '../../state/state.js'
import { FailureNote } from '../shared/failure-note.js'
import { findShown, type Parts } from '../shared/parts.js'
import { QuestionFooter } from '../footer/question-footer.js'
import { DetailsSearch } from './details-search.js'
import { DetailsTable } from './details-table.js'
import { Pages } from './pages.js'

export interface DetailsContentProps extends Parts {
  readonly tab: Tab
  readonly details: Details
  /** The question about the rows; undefined until a search has the values that it needs. */
  readonly rows: Question | undefined
  /** The question about the values that can be searched, for fields that need it. */
  readonly values: Question | undefined
  readonly known: KnownValues | undefined
}

export function DetailsContent({
  tab,
  details,
  rows,
  values,
  known,
  ...parts
}: DetailsContentProps) {
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
      <QuestionFooter {...parts} question={rows} />
    </>
  )
}
