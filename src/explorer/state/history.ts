/** Which changes of the state are steps of the browser's history. */
import { closeDetails } from './changes.js'
import type { ExplorerState } from './state.js'
import { formatState } from './url.js'

/**
 * What a change is to the history: nothing, a new entry, the last entry with another state, or the way back to the entry
 * before it.
 */
export type Step = 'stay' | 'push' | 'replace' | 'back'

/**
 * Chooses the step of a change. An open dialog is one entry, whatever is done in it, and closing it goes back: a further step
 * back never opens it again.
 *
 * @param wasOpenedHere whether the entry before the dialog is the page without it, rather than where a link to the dialog stood
 */
export function chooseStep(
  before: ExplorerState,
  next: ExplorerState,
  wasOpenedHere: boolean,
): Step {
  if (formatState(before) === formatState(next)) return 'stay'
  const isInDialog =
    before.details !== undefined &&
    formatState(closeDetails(before)) === formatState(closeDetails(next))
  if (!isInDialog) return 'push'
  return next.details === undefined && wasOpenedHere ? 'back' : 'replace'
}
