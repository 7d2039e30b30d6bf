/** Decides whether users may be counted in a second step. */
import type { Measure } from '../../model/measures.js'
import type { Query } from '../request/query.js'
import type { UserCounting } from './plan.js'

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
