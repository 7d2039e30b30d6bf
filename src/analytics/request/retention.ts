/** Refuses periods that reach back further than the project's subscription keeps data. */
import { ApiError } from '../../contract/errors.js'
import type { Period } from './period.js'

const DAY = 86_400_000

/**
 * @param days how many days before the current one may be asked for; null is without limit
 * @throws ApiError PLAN_LIMIT_EXCEEDED when the period starts earlier
 */
export function checkRetention(period: Period, days: number | null, now: Date): void {
  if (days === null) return
  const earliest = (Math.floor(now.getTime() / DAY) - days) * DAY
  if (period.start.getTime() >= earliest) return
  throw new ApiError(
    'PLAN_LIMIT_EXCEEDED',
    `Your plan keeps ${days} days of data and the date range starts before that. Upgrade your plan to look further back.`,
  )
}
