/** Resolves a date range to a period: half-open, of moments. Days, months and years are those of a time zone. */
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
import { toInstant, toLocal } from '../../lib/time-zone.js'

/** From `start` to just before `end`. Both are whole seconds. */
export interface Period {
  readonly start: Date
  readonly end: Date
}

/** The presets that reach back by a time, whatever the calendar says. */
type RollingPreset = 'live' | '1hr' | '24hrs'
const isRolling = (preset: Preset): preset is RollingPreset => Object.hasOwn(ROLLING_STARTS, preset)

/** Computes the start of each of them from the end of the current second and what the clock shows then. */
const ROLLING_STARTS: Readonly<Record<RollingPreset, (end: Date, zone: string) => Date>> = {
  live: (end) => addMs(end, -5 * MINUTE_MS),
  '1hr': (end) => addMs(end, -HOUR_MS),
  '24hrs': (end, zone) => {
    const local = toLocal(zone, addMs(end, -SECOND_MS))
    return addMs(end, startOfHour(local).getTime() - local.getTime() - SECOND_MS - 23 * HOUR_MS)
  },
}

/** What the starts of the other presets depend on, as the clock of the zone shows it. */
interface PresetContext {
  /** The start of the current day. */
  readonly today: Date
  /** The moment of the project's first event or, without events, of its creation. */
  readonly history: Date
}

/** Computes the start of each, as the clock of the zone shows it. */
const PRESET_STARTS: Readonly<
  Record<Exclude<Preset, RollingPreset | 'yesterday'>, (context: PresetContext) => Date>
> = {
  today: ({ today }) => today,
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
 * @param zone the time zone whose days, months and years are meant
 */
export function resolvePeriod(range: DateRange, history: Date, now: Date, zone = 'UTC'): Period {
  if (typeof range !== 'string') return resolveRange(range, zone)
  const end = addMs(startOfSecond(now), SECOND_MS)
  if (isRolling(range)) return { start: ROLLING_STARTS[range](end, zone), end }
  const today = startOfDay(toLocal(zone, now))
  if (range === 'yesterday') return resolveDayBefore(toInstant(zone, today), zone)
  const start = PRESET_STARTS[range]({ today, history: toLocal(zone, history) })
  return { start: toInstant(zone, start), end }
}

/** Resolves the day that ends at a moment. It need not be that of the date before, which the zone may have skipped. */
function resolveDayBefore(end: Date, zone: string): Period {
  const last = toLocal(zone, addMs(end, -SECOND_MS))
  return { start: toInstant(zone, startOfDay(last)), end }
}

/** Resolves an array of a start and an end to a period. It has no moment if the zone skips its only day. */
export function resolveRange([from, to]: readonly [string, string], zone = 'UTC'): Period {
  const [first, last] = [new Date(from), new Date(to)]
  return {
    start: isDateOnly(from) ? toInstant(zone, first) : first,
    end: isDateOnly(to) ? toInstant(zone, addDays(last, 1)) : addMs(last, SECOND_MS),
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
