/** The query of the funnel dialog. */
import { toApiFilter } from '../state/filters.js'
import type { AskedState } from '../state/state.js'
import type { Query } from '../client/contract.js'
import { buildScope } from './scope.js'

/** The id of the query about the funnel. */
export const FUNNEL = 'funnel'
/** How many steps the API takes. */
export const [MIN_STEPS, MAX_STEPS] = [2, 10]

const DAY_SECONDS = 86_400

/** Builds the query of the open funnel; none while it has fewer than two steps. */
export function buildFunnelQueries(state: AskedState): readonly Query[] {
  const { funnel } = state
  if (funnel === undefined || funnel.steps.length < MIN_STEPS) return []
  const { steps, within } = funnel
  return [
    {
      id: FUNNEL,
      operation: 'funnel',
      body: {
        ...buildScope(state),
        steps: steps.map((step) => ({ filters: [toApiFilter(step)] })),
        within: within === 'visit' ? within : within * DAY_SECONDS,
      },
    },
  ]
}
