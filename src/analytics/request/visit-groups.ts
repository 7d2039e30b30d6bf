/** How the visits of a query are grouped, and which metrics are null because of it. */
import type { Metric } from '../../contract/api.js'
import { DIMENSIONS } from '../../model/dimensions.js'
import { VISIT_SUMS, type Measure } from '../../model/measures.js'
import { METRICS } from '../../model/metrics.js'
import type { Grouping } from './query.js'

/**
 * `events`: a visit is in the group of its events. `entry`: it is in the group of its entry page, and its events may be in
 * others. `none`: visits are in no group.
 */
export type VisitGroups = 'events' | 'entry' | 'none'

/** Finds how a grouping groups visits. */
export function findVisitGroups(grouping: Grouping): VisitGroups {
  switch (grouping.kind) {
    case 'none':
    case 'interval':
      return 'events'
    case 'property':
      return 'none'
    case 'dimension': {
      const { sessionColumn, entryColumn } = DIMENSIONS[grouping.dimension]
      if (sessionColumn !== undefined) return 'events'
      return entryColumn === undefined ? 'none' : 'entry'
    }
    default:
      return grouping satisfies never
  }
}

/** Whether a metric is null in every row, because the visits that it needs are not in the groups. */
export function isAlwaysNull(metric: Metric, grouping: Grouping): boolean {
  const { measures, relatesToVisits = false } = METRICS[metric]
  const groups = findVisitGroups(grouping)
  if (groups === 'none') return measures.some(isVisitMeasure)
  return groups === 'entry' && relatesToVisits
}

const isVisitMeasure = (measure: Measure): boolean =>
  VISIT_SUMS.some((visitMeasure) => visitMeasure === measure)
