/** The rules of a request for a funnel that its schema cannot express. */
import type { FieldError, FunnelRequest } from '../../contract/api.js'
import { isRecord } from '../../lib/records.js'
import { checkDateRange, checkTimeZone, type Rule } from '../request/cross-field-rules.js'
import { checkPlacedFilters, findTooDeepFilter } from '../request/filter-limits.js'
import { listFilters, type PlacedFilter } from '../request/walk-filters.js'

export const FUNNEL_RULES: readonly Rule<FunnelRequest>[] = [
  { fields: ['time_zone'], check: checkTimeZone },
  { fields: ['date_range', 'time_zone'], check: checkDateRange },
  {
    fields: ['filters', 'steps'],
    check: (request) => checkPlacedFilters(listFunnelFilters(request), 'steps'),
  },
]

const nameStep = (i: number): string => `steps.${i}.filters`

/** Lists the filters of a request: its own, and those of its steps. */
export const listFunnelFilters = ({
  filters,
  steps,
}: Pick<FunnelRequest, 'filters' | 'steps'>): readonly PlacedFilter[] => [
  ...listFilters(filters),
  ...steps.flatMap((step, i) => listFilters(step.filters, nameStep(i))),
]

/** Finds the first filter of a request that lies in too many others. The body may be anything. */
export function findTooDeepFilterOfFunnel({
  filters,
  steps,
}: Readonly<Record<string, unknown>>): FieldError | undefined {
  const found = findTooDeepFilter(filters)
  if (found !== undefined || !Array.isArray(steps)) return found
  for (const [i, step] of (steps as readonly unknown[]).entries()) {
    const inStep = isRecord(step) ? findTooDeepFilter(step['filters'], nameStep(i)) : undefined
    if (inStep !== undefined) return inStep
  }
  return undefined
}
