/** The dialog with all rows of a tab. */
import { findDetailsTab, getOrder } from '../../questions/details.js'
import { PANELS, type Tab } from '../../questions/panels.js'
import type { Question } from '../../client/contract.js'
import { changeDetails, closeDetails, openDetails } from '../../state/changes.js'
import type { Details as DetailsState } from '../../state/state.js'
import { findShown, type Parts } from '../shared/parts.js'
import { QuestionFooter } from '../footer/question-footer.js'
import { DetailsTable } from './details-table.js'
import { Dialog } from './dialog.js'
import { Pages } from './pages.js'

export interface DetailsProps extends Parts {
  readonly question: Question | undefined
}

/** The dialog of the state; nothing while none is open. */
export function Details(props: DetailsProps) {
  const { details } = props.state
  const tab = details && findDetailsTab(details.tab)
  if (details === undefined || tab === undefined) return null
  return (
    <Dialog key={tab.id} title={nameDialog(tab)} onClose={() => props.change(closeDetails)}>
      <Content {...props} tab={tab} details={details} />
    </Dialog>
  )
}

/** Opens the dialog of a tab. */
export function DetailsButton({ tab, change }: Pick<Parts, 'change'> & { readonly tab: Tab }) {
  return (
    <button
      class="open-details"
      aria-label={`Details: ${nameDialog(tab)}`}
      onClick={() => change(openDetails(tab.id, tab.metric))}
    >
      Details
    </button>
  )
}

/** The names of the panel and the tab, such as `Places: Country`. A property is one of the events. */
function nameDialog({ id, name }: Tab): string {
  const panel = PANELS.find(({ tabs }) => tabs.some((one) => one.id === id))
  return `${panel?.name ?? 'Events'}: ${name}`
}

function Content({
  tab,
  details,
  question,
  ...parts
}: DetailsProps & { readonly tab: Tab; readonly details: DetailsState }) {
  const { change } = parts
  const shown = findShown(parts, question)
  const isOfTab = shown.kind === 'ready' && shown.body.query.group_by[0] === tab.id
  return (
    <>
      {shown.kind === 'failed' && <p role="alert">{shown.message}</p>}
      {shown.kind !== 'failed' && !isOfTab && <p class="loading">…</p>}
      {isOfTab && (
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
      <QuestionFooter {...parts} question={question} />
    </>
  )
}
