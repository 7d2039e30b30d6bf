/** Resolves a date range to a period: half-open, in UTC. */
import type { DateRange, Period as ShownPeriod, Preset } from '../../contract/api.js'
import {
  addDays,
  addMs,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
  startOfDay,
  startOfHour,
  startOfMonth,
  startOfSecond,
  startOfYear,
} from '../../lib/time.js'

/** From `start` to just before `end`. Both are whole seconds. */
export interface Period {
  readonly start: Date
  readonly end: Date
}

/** What the starts of presets depend on. */
interface PresetContext {
  /** The start of the current day. */
  readonly today: Date
  /** The end of the current second. */
  readonly end: Date
  /** The moment of the project's first event or, without events, of its creation. */
  readonly history: Date
}

/** Computes the start of each preset. */
const PRESET_STARTS: Readonly<Record<Preset, (context: PresetContext) => Date>> = {
  live: ({ end }) => addMs(end, -5 * MINUTE_MS),
  '1hr': ({ end }) => addMs(end, -HOUR_MS),
  '24hrs': ({ end }) => addMs(startOfHour(addMs(end, -SECOND_MS)), -23 * HOUR_MS),
  today: ({ today }) => today,
  yesterday: ({ today }) => addDays(today, -1),
  '7days': ({ today }) => addDays(today, -6),
  '30days': ({ today }) => addDays(today, -29),
  '90days': ({ today }) => addDays(today, -89),
  '3months': ({ today }) => startOfMonth(today, -2),
  '6months': ({ today }) => startOfMonth(today, -5),
  '12months': ({ today }) => startOfMonth(today, -11),
  '1year': ({ today }) => startOfMonth(today, -11),
  mtd: ({ today }) => startOfMonth(today),
  ytd: ({ today }) => startOfYear(today),
  // The timestamp of the first event may lie after `now`.
  all: ({ today, history }) => (history < today ? startOfDay(history) : today),
}

/**
 * Resolves a date range. A preset ends with the current second, except that `yesterday` ends with its own last second.
 * An array includes its end: the whole day if the end is a date, else the whole second.
 *
 * @param history the moment of the project's first event or, without events, of its creation: `all` starts with its day
 */
export function resolvePeriod(range: DateRange, history: Date, now: Date): Period {
  if (typeof range === 'string') {
    const today = startOfDay(now)
    const end = addMs(startOfSecond(now), SECOND_MS)
    const start = PRESET_STARTS[range]({ today, end, history })
    return { start, end: range === 'yesterday' ? today : end }
  }
  return resolveRange(range)
}

/** Resolves an array of a start and an end to a period. */
export function resolveRange([from, to]: readonly [string, string]): Period {
  const last = new Date(to)
  return {
    start: new Date(from),
    end: isDateOnly(to) ? addDays(last, 1) : addMs(last, SECOND_MS),
  }
}

/** Whether an end of a date range is a date (`YYYY-MM-DD`), not a second. */
export const isDateOnly = (text: string): boolean => !text.includes('T')

/** Whether two lists contain the same periods in the same order. */
export const arePeriodsEqual = (some: readonly Period[], others: readonly Period[]): boolean =>
  some.length === others.length &&
  some.every(
    ({ start, end }, i) =>
      start.getTime() === others[i]?.start.getTime() && end.getTime() === others[i].end.getTime(),
  )

/** Returns the last second of a period. */
export const getInclusiveEnd = ({ end }: Period): Date => addMs(end, -SECOND_MS)

/** Formats a moment as the API writes it, to the second: `2026-01-31T10:00:00Z`. */
export const formatMoment = (moment: Date): string => `${moment.toISOString().slice(0, -5)}Z`

/** Formats a period as the API writes it, from its first to its last second. */
export const formatPeriod = (period: Period): ShownPeriod => ({
  from: formatMoment(period.start),
  to: formatMoment(getInclusiveEnd(period)),
})
