/** Plans a query: chooses the relations to read, and for which groups to count users. */
import { DAY_MS } from '../../lib/time.js'
import { DIMENSIONS } from '../../model/dimensions.js'
import type { Measure } from '../../model/measures.js'
import { METRICS } from '../../model/metrics.js'
import { ALL_RELATIONS, type RelationName } from '../../model/relations.js'
import type { Grouping, Query } from '../request/query.js'
import { canServe, matchRollups, type Need } from './coverage.js'
import {
  buildScans,
  dividePeriod,
  isRollup,
  listRejections,
  type Division,
} from './divide-period.js'
import type { Plan, RowSource, UserCounting } from './plan.js'

const ROW_SOURCES: Readonly<Record<Grouping['kind'], RowSource>> = {
  none: 'one',
  dimension: 'events',
  property: 'events',
  interval: 'buckets',
}

/**
 * Plans a query. It needs no data: the plan follows from the query alone.
 *
 * @param relations the relations that may be read, the cheapest first; the facts must be among them
 */
export function planQuery(query: Query, relations: readonly RelationName[] = ALL_RELATIONS): Plan {
  const rows = ROW_SOURCES[query.grouping.kind]
  const match = matchRollups(query)
  const divide = (need: Need): Division => dividePeriod(need, query, match, relations)
  const scan = (divisions: readonly Division[]) =>
    relations.flatMap((relation) => buildScans(relation, divisions, query, match))

  const measures = listMeasures(query)
  const kind = chooseUserCounting(query, measures, divide('groups'))
  const needs = new Set<Need>(measures)
  // Candidates are found by their number of events.
  if (kind === 'candidates') needs.add('pageviews').add('events')
  // Groups are found by their events, even if no measure of events is selected.
  if (rows === 'events') needs.add('groups')

  const divisions = [...needs].map(divide)
  const isDeferred = ({ need }: Division): boolean => kind !== 'all' && need === 'users'
  return {
    query,
    rows,
    scans: scan(divisions.filter((division) => !isDeferred(division))),
    userCounting: kind === 'all' ? { kind } : { kind, scans: scan(divisions.filter(isDeferred)) },
    rejected: relations.flatMap((relation) => listRejections(relation, divisions)),
  }
}

/**
 * Lists the measures of the selected metrics. If visits do not have the groups, their measures are left out, and the
 * metrics are null.
 */
const listMeasures = (query: Query): readonly Measure[] =>
  [...new Set(query.metrics.flatMap((metric) => METRICS[metric].measures))].filter(
    (measure) => canGroupVisits(query.grouping) || canServe('events', measure),
  )

function canGroupVisits(grouping: Grouping): boolean {
  switch (grouping.kind) {
    case 'none':
    case 'interval':
      return true
    case 'property':
      return false
    case 'dimension': {
      const { sessionColumn, entryColumn } = DIMENSIONS[grouping.dimension]
      return sessionColumn !== undefined || entryColumn !== undefined
    }
    default:
      return grouping satisfies never
  }
}

/** Above two days of raw events, scanning them twice costs more than deferring user counts saves. */
const MAX_FACTS_MS = 2 * DAY_MS

/** Candidates are counted only for pages that end by this row, because the statement keeps a list of that many groups. */
const MAX_LAST_ROW = 2_000

/** Defers counting users if rollups provide the groups and most groups may not be on the page. */
function chooseUserCounting(
  { grouping, order, limit, offset }: Query,
  measures: readonly Measure[],
  groups: Division,
): UserCounting['kind'] {
  const factsMs = (groups.periods.get('events') ?? []).reduce(
    (length, { start, end }) => length + (end.getTime() - start.getTime()),
    0,
  )
  const readsRollups = [...groups.periods.keys()].some(isRollup)
  if (!readsRollups || factsMs > MAX_FACTS_MS || !measures.includes('users')) return 'all'
  if (!hasManyGroups(grouping)) return 'all'
  if (order.by !== 'users') return 'page'
  return order.direction === 'desc' && limit + offset <= MAX_LAST_ROW ? 'candidates' : 'all'
}

const hasManyGroups = (grouping: Grouping): boolean =>
  grouping.kind === 'property' ||
  (grouping.kind === 'dimension' && DIMENSIONS[grouping.dimension].highCardinality === true)
