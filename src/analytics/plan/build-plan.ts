/** Builds the plan of a query for one way of reading. */
import type { Measure } from '../../model/measures.js'
import { METRICS } from '../../model/metrics.js'
import { EVENT_LIMITS } from '../../model/event-fields.js'
import type { Predicate } from '../request/filters.js'
import { isRanked, withoutThenBy } from '../request/derived-queries.js'
import type { Grouping, Query } from '../request/query.js'
import { isAlwaysNull } from '../request/visit-groups.js'
import { matchRollups, type Need } from './coverage.js'
import { buildScans, createDivider, listRejections, type Division } from './divide-period.js'
import { listRelations, type NewUsersPlan, type Plan, type RowSource } from './plan.js'
import { listTerms } from './terms.js'
import { findDeferredCounting } from './user-counting.js'
import type { Way } from './ways.js'

const ROW_SOURCES: Readonly<Record<Grouping['kind'], RowSource>> = {
  none: 'one',
  dimension: 'events',
  property: 'events',
  property_names: 'events',
  interval: 'buckets',
}

/** Builds the plan of a query for a way of reading. */
export function buildPlan(query: Query, way: Way): Plan {
  const plan = planMeasures(query, way)
  return query.metrics.includes('new_users')
    ? { ...plan, newUsers: planNewUsers(query, way) }
    : plan
}

/** Plans the measures that relations have. */
function planMeasures(query: Query, way: Way): Plan {
  const { relations } = way
  const rows = ROW_SOURCES[query.grouping.kind]
  const match = matchRollups(query)
  const divide = createDivider(query, match, way)
  const scan = (divisions: readonly Division[]) =>
    relations.flatMap((relation) => buildScans(relation, divisions, query, match))

  const measures = listMeasures(query)
  const kind = way.defersUsers ? findDeferredCounting(query, measures) : 'all'
  const needs = new Set<Need>(measures)
  // Candidates are found by their number of events.
  if (kind === 'candidates') needs.add('pageviews').add('events')
  // Groups are found by their events, even if no measure of events is selected. New users are joined to them.
  const joinsUsers = query.metrics.includes('new_users') && isRanked(query)
  if (rows === 'events' || joinsUsers) needs.add('groups')

  const divisions = [...needs].map(divide)
  const isDeferred = ({ need }: Division): boolean => kind !== 'all' && need === 'users'
  return {
    query,
    rows,
    scans: scan(divisions.filter((division) => !isDeferred(division))),
    userCounting: kind === 'all' ? { kind } : { kind, scans: scan(divisions.filter(isDeferred)) },
    readsDays: true,
    rejected: relations.flatMap((relation) => listRejections(relation, divisions)),
    considered: [],
  }
}

const EVERYONE: Predicate = { kind: 'all', of: [] }

/** Plans the users of the groups, and the users that had an event before. */
function planNewUsers(query: Query, way: Way): NewUsersPlan {
  const { grouping, thenBy, predicate, period } = query
  const everything = { ...withoutThenBy(query), predicate: EVERYONE }
  const planUsers = (of: Query): Plan => {
    const metrics = ['users'] as const
    const plan = planMeasures({ ...of, metrics }, { ...way, defersUsers: false })
    // The groups are those of the other measures.
    return { ...plan, scans: plan.scans.filter(({ measures }) => measures.includes('users')) }
  }
  const { earliestTimestamp } = EVENT_LIMITS
  const isPart = thenBy !== undefined || listTerms(predicate).length > 0
  return {
    users: planUsers(query),
    ...(grouping.kind === 'interval' && isPart ? { everyone: planUsers(everything) } : {}),
    ...(period.start <= earliestTimestamp
      ? {}
      : {
          earlier: planUsers({
            ...everything,
            grouping: { kind: 'none' },
            period: { start: earliestTimestamp, end: period.start },
          }),
        }),
  }
}

/** Lists the measures of the selected metrics that relations have, but those that are null in every row. */
const listMeasures = (query: Query): readonly Measure[] => [
  ...new Set(
    query.metrics
      .filter((metric) => !isAlwaysNull(metric, query))
      .flatMap((metric) => METRICS[metric].measures)
      .filter((measure) => measure !== 'new_users'),
  ),
]

/** Names a way of reading by the relations that it reads. Plans of a query with the same name have the same scans. */
export function nameWay(plan: Plan): string {
  const relations = new Set(listRelations(plan))
  return [
    [...relations].join(', '),
    ...(plan.userCounting.kind === 'all' ? [] : ['users last']),
  ].join('; ')
}
