/** Decides whether users may be counted in a second step, and whether that is worth it when sizes are not known. */
import { DAY_MS } from '../../lib/time.js'
import { DIMENSIONS } from '../../model/dimensions.js'
import type { Measure } from '../../model/measures.js'
import { isRollup } from '../../model/relations.js'
import type { Grouping, Query } from '../request/query.js'
import type { Division } from './divide-period.js'
import type { UserCounting } from './plan.js'

/** Above two days of raw events, scanning them twice costs more than deferring user counts saves. */
const MAX_FACTS_MS = 2 * DAY_MS

/** Candidates are counted only for pages that end by this row, because the statement keeps a list of that many groups. */
const MAX_LAST_ROW = 2_000

/** Returns how users can be counted in a second step; `all` if they cannot. */
export function findDeferredCounting(
  { grouping, thenBy, order, limit, offset }: Query,
  measures: readonly Measure[],
): UserCounting['kind'] {
  const hasGroups = grouping.kind === 'dimension' || grouping.kind === 'property'
  if (!hasGroups || thenBy !== undefined || !measures.includes('users')) return 'all'
  if (order.by !== 'users') return 'page'
  return order.direction === 'desc' && limit + offset <= MAX_LAST_ROW ? 'candidates' : 'all'
}

/** Whether counting users later is likely to pay: rollups provide the groups, and most may not be on the page. */
export function isDeferringLikelyToPay({ grouping }: Query, groups: Division): boolean {
  const factsMs = (groups.periods.get('events') ?? []).reduce(
    (length, { start, end }) => length + (end.getTime() - start.getTime()),
    0,
  )
  const readsRollups = [...groups.periods.keys()].some(isRollup)
  return readsRollups && factsMs <= MAX_FACTS_MS && hasManyGroups(grouping)
}

const hasManyGroups = (grouping: Grouping): boolean =>
  grouping.kind === 'property' ||
  (grouping.kind === 'dimension' && DIMENSIONS[grouping.dimension].highCardinality === true)
