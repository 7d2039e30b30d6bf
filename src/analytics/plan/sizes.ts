/** Estimates how many facts lie in the periods of a plan, from the sizes of the project. */
import { DAY_MS, startOfMonth } from '../../lib/time.js'
import type { MonthSize, ProjectSizes } from '../../model/project-sizes.js'
import type { Period } from '../request/period.js'

const LONGEST_MONTH_MS = 31 * DAY_MS

export interface FactsEstimate extends Omit<MonthSize, 'month'> {
  /** In how many months they lie. */
  readonly months: number
}

/** Estimates the number of events and visits in some periods, as if those of each month were spread evenly. */
export function estimateFacts(
  { months, readAt }: ProjectSizes,
  periods: readonly Period[],
): FactsEstimate {
  let [events, visits, count] = [0, 0, 0]
  const first = Math.min(...periods.map(({ start }) => start.getTime())) - LONGEST_MONTH_MS
  const last = Math.max(...periods.map(({ end }) => end.getTime()))
  for (const { month, ...size } of months) {
    if (month.getTime() <= first || month.getTime() >= last) continue
    const next = startOfMonth(month, 1)
    const whole = { start: month, end: month < readAt && readAt < next ? readAt : next }
    const share = periods.reduce((sum, period) => sum + getShare(period, whole), 0)
    events += share * size.events
    visits += share * size.visits
    if (share > 0) count += 1
  }
  return { events, visits, months: count }
}

/** Returns the share of `whole` that a period covers, from 0 to 1. */
function getShare(period: Period, whole: Period): number {
  const start = Math.max(period.start.getTime(), whole.start.getTime())
  const end = Math.min(period.end.getTime(), whole.end.getTime())
  return Math.max(0, end - start) / (whole.end.getTime() - whole.start.getTime())
}
