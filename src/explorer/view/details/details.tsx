/** The dialog with all rows of a tab. */
import { findDetailsTab } from '../../questions/details.js'
import { nameTab, type Tab } from '../../questions/panels.js'
import { closeDetails, openDetails } from '../../state/changes.js'
import type { Parts } from '../shared/parts.js'
import { DetailsContent, type DetailsContentProps } from './details-content.js'
import { Dialog } from '../shared/dialog.js'

/** The dialog of the state; nothing while none is open. */
export function Details(props: Omit<DetailsContentProps, 'tab' | 'details'>) {
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
