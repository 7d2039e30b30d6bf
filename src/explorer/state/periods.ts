/** Periods of the page: their names, and how one steps back and forth. */
import { DAY_MS, MINUTE_MS } from '../../lib/time.js'
import { namePeriod } from '../format/dates.js'
import { LIVE, type AskedPeriod, type Preset, type Range, type ShownPeriod } from './state.js'

/** The names of the presets, in the order of the menu. */
export const PRESET_NAMES: Readonly<Record<Preset | typeof LIVE, string>> = {
  [LIVE]: 'Last 30 minutes',
  live: 'Last 5 minutes',
  '1hr': 'Last hour',
  '24hrs': 'Last 24 hours',
  today: 'Today',
  yesterday: 'Yesterday',
  this_week: 'This week',
  last_week: 'Last week',
  '7days': 'Last 7 days',
  '28days': 'Last 28 days',
  '30days': 'Last 30 days',
  '90days': 'Last 90 days',
  mtd: 'Month to date',
  last_month: 'Last month',
  last_quarter: 'Last quarter',
  ytd: 'Year to date',
  last_year: 'Last year',
  '12months': 'Last 12 months',
  all: 'All time',
}

const OVER: readonly ShownPeriod[] = [
  'yesterday',
  'last_week',
  'last_month',
  'last_quarter',
  'last_year',
]

/** Whether a period ends at the moment at which it is asked about. @param today as for `stepPeriod` */
export const endsNow = (period: ShownPeriod, today: string): boolean =>
  typeof period === 'string' ? !OVER.includes(period) : countLastDays(period, today) !== undefined

/** How many minutes the live period has. The last one still runs. */
export const LIVE_MINUTES = 30

/** The period to ask about at a moment. */
export function resolvePeriod(period: ShownPeriod, moment: Date): AskedPeriod {
  if (period !== LIVE) return period
  const minute = Math.floor(moment.getTime() / MINUTE_MS)
  return {
    from: formatSecond((minute - LIVE_MINUTES + 1) * MINUTE_MS),
    to: formatSecond(moment.getTime()),
  }
}

/** How many days the API counts at most. */
const MAX_LAST_DAYS = 3660

/**
 * Counts the days of a period of dates up to today. As the last days it is compared up to this time of an earlier day, and not with whole
 * days.
 *
 * @param today as for `stepPeriod`
 * @returns undefined for other periods
 */
export function countLastDays(period: ShownPeriod, today: string): number | undefined {
  if (typeof period === 'string' || period.from.length > 10 || period.to !== today) return undefined
  const days = countDays(period)
  return days <= MAX_LAST_DAYS ? days : undefined
}

/**
 * Moves a period by its own length: a day, a number of days, a month or a year, or as many seconds as it has.
 *
 * @param direction -1 for the period before, 1 for the one after
 * @param today the date in the time zone of the page, such as `2026-01-31`
 * @returns undefined if there is no such period: after today, or of all time
 */
export function stepPeriod(
  period: ShownPeriod,
  direction: -1 | 1,
  today: string,
): Range | undefined {
  const range = typeof period === 'string' ? toDates(period, today) : period
  if (range === undefined) return undefined
  const stepped =
    range.from.length > 10 || range.to.length > 10
      ? stepSeconds(range, direction)
      : stepDates(range, direction)
  return stepped.from.slice(0, 10) > today ? undefined : stepped
}

/** The dates of a preset, to the end of its last month or year; undefined if it has none. @param today as for `stepPeriod` */
export function toDates(preset: Preset | typeof LIVE, today: string): Range | undefined {
  const year = Number(today.slice(0, 4))
  const month = `${today.slice(0, 7)}-01`
  const quarter = addMonths(month, -((Number(today.slice(5, 7)) - 1) % 3))
  // Weeks start on Monday.
  const monday = addDays(today, -((new Date(today).getUTCDay() + 6) % 7))
  const ranges: Partial<Record<Preset | typeof LIVE, Range>> = {
    today: { from: today, to: today },
    yesterday: { from: addDays(today, -1), to: addDays(today, -1) },
    '24hrs': { from: today, to: today },
    last_week: { from: addDays(monday, -7), to: addDays(monday, -1) },
    '7days': { from: addDays(today, -6), to: today },
    '28days': { from: addDays(today, -27), to: today },
    '30days': { from: addDays(today, -29), to: today },
    '90days': { from: addDays(today, -89), to: today },
    this_week: { from: monday, to: addDays(monday, 6) },
    mtd: { from: month, to: endOfMonth(today) },
    last_month: { from: addMonths(month, -1), to: addDays(month, -1) },
    last_quarter: { from: addMonths(quarter, -3), to: addDays(quarter, -1) },
    ytd: { from: `${year}-01-01`, to: `${year}-12-31` },
    last_year: { from: `${year - 1}-01-01`, to: `${year - 1}-12-31` },
    '12months': { from: addMonths(month, -11), to: endOfMonth(today) },
  }
  return ranges[preset]
}

/** The presets that end today, or with a month or year that still runs. */
const RUNNING: readonly Preset[] = [
  'today',
  '7days',
  '28days',
  '30days',
  '90days',
  'this_week',
  'mtd',
  'ytd',
  '12months',
]

/**
 * Returns the preset that has these dates, if they are not over: it is compared up to this time of an earlier day, and not with whole
 * days.
 *
 * @param today as for `stepPeriod`
 */
export const toPreset = (range: Range, today: string): Range | Preset =>
  RUNNING.find((preset) => {
    const dates = toDates(preset, today)
    return range.to >= today && dates?.from === range.from && dates.to === range.to
  }) ?? range

function stepDates({ from, to }: Range, direction: -1 | 1): Range {
  const months = countWholeMonths(from, to)
  if (months !== undefined) {
    const start = addMonths(from, direction * months)
    return { from: start, to: addDays(addMonths(start, months), -1) }
  }
  const days = direction * countDays({ from, to })
  return { from: addDays(from, days), to: addDays(to, days) }
}

function stepSeconds({ from, to }: Range, direction: -1 | 1): Range {
  const start = Date.parse(from)
  const end = to.length > 10 ? Date.parse(to) : Date.parse(to) + DAY_MS - 1000
  const length = direction * (end - start + 1000)
  return { from: formatSecond(start + length), to: formatSecond(end + length) }
}

/** How many days a range of dates has. */
const countDays = ({ from, to }: Range): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1

/** How many whole months a range has; undefined if it does not start and end with one. */
function countWholeMonths(from: string, to: string): number | undefined {
  if (!from.endsWith('-01') || to !== endOfMonth(to)) return undefined
  const [a, b] = [from, to].map((date) => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)))
  return (b ?? 0) - (a ?? 0) + 1
}

/** Adds days to a date. */
export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10)

/** Adds months to the first day of a month. */
export const addMonths = (date: string, months: number): string => {
  const start = new Date(date)
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, 1))
    .toISOString()
    .slice(0, 10)
}

const endOfMonth = (date: string): string => addDays(addMonths(`${date.slice(0, 7)}-01`, 1), -1)

/** Formats a moment as the API takes it, such as `2026-01-31T10:00:00Z`. @param ms since 1970 */
export const formatSecond = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** The clocks of time zones that were read. */
const clocks = new Map<string, Intl.DateTimeFormat>()

/** What the clock of a time zone shows at a moment, such as `2026-01-31T10:00:00`. */
export function clockIn(zone: string, moment: Date): string {
  // Needs no format, so the first request does not wait for one to be created.
  if (zone === 'UTC') return moment.toISOString().slice(0, 19)
  const options = { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' } as const
  // Sweden writes dates and times like ISO 8601.
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('sv', options)
  clocks.set(zone, clock)
  return clock.format(moment).replace(' ', 'T')
}

/** The date of a moment in a time zone. */
export const dateIn = (zone: string, moment: Date): string => clockIn(zone, moment).slice(0, 10)

/**
 * Names a period of moments in words, as the clock of a zone shows them, such as `1 Feb 2026 – 28 Feb 2026`.
 *
 * @param from its first second
 * @param to its last second
 */
export const nameMoments = ({ from, to }: Range, zone: string): string =>
  namePeriod(clockIn(zone, new Date(from)), clockIn(zone, new Date(to)))

/** Describes a period in words, such as `1 Jan 2026 – 31 Jan 2026`. */
export function describePeriod(period: ShownPeriod, zone: string): string {
  if (typeof period === 'string') return PRESET_NAMES[period]
  const read = (text: string, time: string): string =>
    text.length > 10 ? clockIn(zone, new Date(text)) : text + time
  return namePeriod(read(period.from, 'T00:00:00'), read(period.to, 'T23:59:59'))
}

/** The periods that a response is about. */
export interface PeriodsOfResponse {
  readonly period: Range
  readonly comparison?: { readonly period: Range } | undefined
}

/** Describes the period of a response in words, after the name of its preset, and the one that it is compared with. */
export function describePeriods(
  asked: ShownPeriod,
  { period, comparison }: PeriodsOfResponse,
  zone: string,
): string {
  const preset = typeof asked === 'string' ? `${describePeriod(asked, zone)}: ` : ''
  const compared =
    comparison === undefined ? '' : `, compared with ${nameMoments(comparison.period, zone)}`
  return `${preset}${nameMoments(period, zone)}, ${zone.replaceAll('_', ' ')}${compared}`
}

/** A period of a response as dates, or as seconds where it does not consist of days of a zone. @param period its first and last second */
export function fixPeriod({ from, to }: Range, zone: string): Range {
  const [first, last] = [from, to].map((moment) => clockIn(zone, new Date(moment)))
  return first?.slice(11) === '00:00:00' && last?.slice(11) === '23:59:59'
    ? { from: first.slice(0, 10), to: last.slice(0, 10) }
    : { from, to }
}
