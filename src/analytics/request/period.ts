/** Resolves a date range to the period it means: half-open, in UTC. */
import type { DateRange, Preset, Period as ShownPeriod } from '../../contract/api.js'
import { FINE_TO_COARSE, GRANULARITIES, type Granularity } from '../../model/granularities.js'

/** From `start` to just before `end`. Both are whole seconds. */
export interface Period {
  readonly start: Date
  readonly end: Date
}

const SECOND = 1_000
const DAY = 86_400_000

const startOfDay = (moment: Date): Date => new Date(Math.floor(moment.getTime() / DAY) * DAY)
const plusDays = (day: Date, days: number): Date => new Date(day.getTime() + days * DAY)
const plusSecond = (moment: Date): Date => new Date(moment.getTime() + SECOND)
const startOfMonth = (day: Date, months = 0): Date =>
  new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + months, 1))
const startOfYear = (day: Date): Date => new Date(Date.UTC(day.getUTCFullYear(), 0, 1))

/** Where each preset starts, from the start of the current day and that of the project's history. */
const PRESET_STARTS: Readonly<Record<Preset, (today: Date, history: Date) => Date>> = {
  today: (today) => today,
  yesterday: (today) => plusDays(today, -1),
  '7days': (today) => plusDays(today, -6),
  '30days': (today) => plusDays(today, -29),
  '90days': (today) => plusDays(today, -89),
  '12months': (today) => startOfMonth(today, -11),
  mtd: (today) => startOfMonth(today),
  ytd: startOfYear,
  // Events may lie ahead of the clock.
  all: (today, history) => (history < today ? startOfDay(history) : today),
}

/**
 * The period of a date range. A preset runs through the current second (`yesterday` through its last),
 * an array through the last second of its end as far as that is written.
 *
 * @param history the moment that `all` starts on the day of: the project's first event, or its creation
 */
export function resolvePeriod(range: DateRange, history: Date, now: Date): Period {
  if (typeof range === 'string') {
    const today = startOfDay(now)
    const start = PRESET_STARTS[range](today, history)
    if (range === 'yesterday') return { start, end: today }
    return { start, end: plusSecond(new Date(Math.floor(now.getTime() / SECOND) * SECOND)) }
  }
  const [from, to] = range
  const last = new Date(to)
  return {
    start: new Date(from),
    end: isDateOnly(to) ? plusDays(last, 1) : plusSecond(last),
  }
}

const isDateOnly = (text: string): boolean => !text.includes('T')

/** The last second that belongs to a period. */
export const inclusiveEnd = ({ end }: Period): Date => new Date(end.getTime() - SECOND)

/** A moment as the API writes it, to the second: `2026-01-31T10:00:00Z`. */
export const formatMoment = (moment: Date): string => `${moment.toISOString().slice(0, -5)}Z`

/** A period as the API writes it, from its first to its last second. */
export const formatPeriod = (period: Period): ShownPeriod => ({
  from: formatMoment(period.start),
  to: formatMoment(inclusiveEnd(period)),
})

/** The bucket size of `interval:auto` for a period. */
export function granularityOf(period: Period): Granularity {
  const length = inclusiveEnd(period).getTime() - period.start.getTime()
  return FINE_TO_COARSE.find((name) => length <= GRANULARITIES[name].maxLengthMs) ?? 'month'
}
