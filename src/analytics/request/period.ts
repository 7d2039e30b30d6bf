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
/** The presets that are over: each ends with its own last second. */
type ClosedPreset = 'last_week' | 'last_month' | 'last_quarter' | 'last_year'
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
  Record<
    Exclude<Preset, RollingPreset | ClosedPreset | 'yesterday'>,
    (context: PresetContext) => Date
  >
> = {
  today: ({ today }) => today,
  '7days': ({ today }) => addDays(today, -6),
  '28days': ({ today }) => addDays(today, -27),
  '30days': ({ today }) => addDays(today, -29),
  '90days': ({ today }) => addDays(today, -89),
  '3months': ({ today }) => startOfMonth(today, -2),
  '6months': ({ today }) => startOfMonth(today, -5),
  '12months': ({ today }) => startOfMonth(today, -11),
  '1year': ({ today }) => startOfMonth(today, -11),
  this_week: ({ today }) => startOfWeek(today),
  mtd: ({ today }) => startOfMonth(today),
  ytd: ({ today }) => startOfYear(today),
  // The timestamp of the first event may lie after `now`.
  all: ({ today, history }) => (history < today ? startOfDay(history) : today),
}

/** Computes the start of each, and of the unit after it, from the start of the current day. */
const CLOSED_PRESETS: Readonly<Record<ClosedPreset, (today: Date) => readonly [Date, Date]>> = {
  last_week: (today) => [addDays(startOfWeek(today), -7), startOfWeek(today)],
  last_month: (today) => [startOfMonth(today, -1), startOfMonth(today)],
  last_quarter: (today) => {
    const months = today.getUTCMonth() % 3
    return [startOfMonth(today, -months - 3), startOfMonth(today, -months)]
  },
  last_year: (today) => [startOfMonth(startOfYear(today), -12), startOfYear(today)],
}

/** Whether a date range is a preset that is over, and as long as the calendar says. */
export const isClosed = (range: DateRange): range is ClosedPreset =>
  typeof range === 'string' && Object.hasOwn(CLOSED_PRESETS, range)

/** Returns the Monday of the week of a day. */
const startOfWeek = (day: Date): Date => addDays(day, -((day.getUTCDay() + 6) % 7))

/** The last days, weeks or months, the current one among them. */
export type RelativeRange = Extract<DateRange, { readonly last: number }>

export const isRelative = (range: DateRange): range is RelativeRange =>
  typeof range === 'object' && 'last' in range

/** Computes the start of the unit that lies `back` units before the current one. */
const UNIT_STARTS: Readonly<Record<RelativeRange['unit'], (today: Date, before: number) => Date>> =
  {
    day: (today, before) => addDays(today, -before),
    week: (today, before) => addDays(startOfWeek(today), -7 * before),
    month: (today, before) => startOfMonth(today, -before),
  }

/**
 * Resolves a date range. A preset ends with the current second, except that `yesterday` ends with its own last second.
 * The presets of a whole week, month, quarter or year do so, too. An array includes its end: the whole day if the end is a date, else the whole second.
 *
 * @param history the moment of the project's first event or, without events, of its creation: `all` starts with its day
 * @param zone the time zone whose days, months and years are meant
 */
export function resolvePeriod(range: DateRange, history: Date, now: Date, zone = 'UTC'): Period {
  if (isBounds(range)) return resolveRange(range, zone)
  const end = addMs(startOfSecond(now), SECOND_MS)
  const today = startOfDay(toLocal(zone, now))
  if (isRelative(range)) {
    return { start: toInstant(zone, UNIT_STARTS[range.unit](today, range.last - 1)), end }
  }
  if (isRolling(range)) return { start: ROLLING_STARTS[range](end, zone), end }
  if (isClosed(range)) {
    const [first, next] = CLOSED_PRESETS[range](today)
    return { start: toInstant(zone, first), end: toInstant(zone, next) }
  }
  if (range === 'yesterday') return resolveDayBefore(toInstant(zone, today), zone)
  const start = PRESET_STARTS[range]({ today, history: toLocal(zone, history) })
  return { start: toInstant(zone, start), end }
}

/** Resolves the day that ends at a moment. It need not be that of the date before, which the zone may have skipped. */
function resolveDayBefore(end: Date, zone: string): Period {
  const last = toLocal(zone, addMs(end, -SECOND_MS))
  return { start: toInstant(zone, startOfDay(last)), end }
}

/** Whether a date range is an array of a start and an end. */
export const isBounds = (range: DateRange): range is Bounds => Array.isArray(range)

type Bounds = Exclude<DateRange, string | RelativeRange>

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
