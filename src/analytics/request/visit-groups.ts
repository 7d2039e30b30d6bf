/** How the visits of a query are grouped, and which metrics are null because of it. */
import { DIMENSIONS } from '../../model/dimensions.js'
import { VISIT_SUMS, type Measure } from '../../model/measures.js'
import { describeMetric, type QueryMetric } from '../../model/metrics.js'
import { listGroupings, type Grouping, type GroupedBy } from './query.js'

/**
 * `events`: a visit is in the group of its events. `entry`: it is in the group of its entry page, and its events may be in
 * others. `none`: visits are in no group.
 */
export type VisitGroups = 'events' | 'entry' | 'none'

/** Finds how the groupings of a query group visits. A visit is in a group of both if it is in one of each. */
function findVisitGroups(query: GroupedBy): VisitGroups {
  const kinds = listGroupings(query).map(findGroupsOf)
  return (['none', 'entry'] as const).find((kind) => kinds.includes(kind)) ?? 'events'
}

function findGroupsOf(grouping: Grouping): VisitGroups {
  switch (grouping.kind) {
    case 'none':
    case 'interval':
    case 'clock':
    case 'project':
      return 'events'
    case 'property':
    case 'property_names':
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
export function isAlwaysNull(metric: QueryMetric, query: GroupedBy): boolean {
  const { measures, relatesToVisits = false } = describeMetric(metric)
  const groups = findVisitGroups(query)
  if (groups === 'none') return measures.some(isVisitMeasure)
  return groups === 'entry' && relatesToVisits
}

const isVisitMeasure = (measure: Measure): boolean =>
  VISIT_SUMS.some((visitMeasure) => visitMeasure === measure)
