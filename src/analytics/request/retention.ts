/** Rejects periods that start before the data that the project's plan keeps. */
import { ApiError } from '../../contract/errors.js'
import { addDays, startOfDay } from '../../lib/time.js'
import type { Period } from './period.js'

/**
 * Checks that a period does not start before the retention of the project.
 *
 * @param days how many days before the current one queries may reach; null for no limit
 * @param what what the client calls the period
 * @throws ApiError PLAN_LIMIT_EXCEEDED when the period starts earlier
 */
export function checkRetention(
  period: Period,
  days: number | null,
  now: Date,
  what: 'date range' | 'period of compare' = 'date range',
): void {
  if (days === null) return
  if (period.start >= addDays(startOfDay(now), -days)) return
  throw new ApiError(
    'PLAN_LIMIT_EXCEEDED',
    `Your plan allows queries about the last ${days} days, and the ${what} starts before that. Upgrade your plan to look further back.`,
  )
}
