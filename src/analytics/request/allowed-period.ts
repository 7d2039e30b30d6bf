/** Rejects periods that start before the data that the project's plan keeps. */
import type { DateRange } from '../../contract/api.js'
import { ApiError } from '../../contract/errors.js'
import { addDays, formatDay, startOfDay } from '../../lib/time.js'
import { resolvePeriod, type Period } from './period.js'

/** What the period of a request depends on, besides its date range. */
interface ProjectDates {
  readonly createdAt: Date
  /** How many days back queries may reach; null for no limit. */
  readonly retentionDays: number | null
}

/** The members of a request that its period depends on. */
interface PeriodMembers {
  readonly date_range: DateRange
  readonly time_zone?: string
}

/**
 * Resolves the date range of a request, and checks that it does not start before the retention of the project.
 *
 * @param first the moment of the project's first event, null without events; read only for the date range `all`
 * @throws ApiError PLAN_LIMIT_EXCEEDED
 */
export function resolveAllowedPeriod(
  { date_range: range, time_zone: zone }: PeriodMembers,
  { createdAt, retentionDays }: ProjectDates,
  first: Date | null,
  now: Date,
): Period {
  const period = resolvePeriod(range, first ?? createdAt, now, zone)
  checkRetention(period, retentionDays, now)
  return period
}

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
  const earliest = addDays(startOfDay(now), -days)
  if (period.start >= earliest) return
  throw new ApiError(
    'PLAN_LIMIT_EXCEEDED',
    `Queries of this project may start on ${formatDay(earliest)} (UTC) at the earliest, and the ${what} starts before that. Choose a later start.`,
  )
}
