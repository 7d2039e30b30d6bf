/** The query of the overview: the numbers of each project, and a line for each. */
import type { MetricName, ProjectsBody, Query } from '../client/contract.js'
import type { AskedState } from '../state/state.js'
import type { Order } from './details.js'
import { buildComparison, buildScope } from './scope.js'

export const OVERVIEW_METRICS = [
  'users',
  'visits',
  'pageviews',
  'events',
] as const satisfies readonly MetricName[]

/** How many projects a page has. */
export const PAGE_SIZE = 50

/** What is chosen on the page, beside its period. */
export interface OverviewView extends Order {
  /** The organization whose projects are shown; empty for all. */
  readonly org: string
  /** From 0. */
  readonly page: number
}

/** Builds the query. @param interval of the lines; undefined for none */
export function buildOverview(
  state: AskedState,
  { org, orderBy, direction, page }: OverviewView,
  interval: ProjectsBody['interval'],
): Query {
  return {
    id: 'projects',
    operation: 'projects',
    body: {
      ...(org === '' ? {} : { org }),
      ...buildScope({ ...state, filters: [] }),
      metrics: [...OVERVIEW_METRICS],
      ...(interval === undefined ? {} : { interval }),
      order_by: [[orderBy, direction]],
      limit: PAGE_SIZE,
      offset: page * PAGE_SIZE,
      ...buildComparison(state),
    },
  }
}
