/** The points of the chart, from the response to its query, and the period that a click on a point zooms into. */
import type { QueryResponse, ShownMetric } from '../client/contract.js'
import { CLOCK_MS, isOfClock, type BucketSize } from '../format/dates.js'
import { addDays, addMonths, clockIn, formatSecond } from '../state/periods.js'
import type { Range } from '../state/state.js'

export interface Point {
  /** The start of the bucket, with its offset from UTC. */
  readonly label: string
  /** Undefined if the bucket has no value: the bounce rate of no visits, or a bucket that has not begun. */
  readonly value: number | undefined
  /** The value of the bucket that it is compared with, and the change from there. */
  readonly compared?: number | undefined
  /** The day or month that it is compared with, as the start of the bucket; undefined for buckets of other sizes. */
  readonly comparedLabel?: string | undefined
  readonly change?: number | undefined
  /** Whether the period has only a part of the bucket, such as of its first week. */
  readonly isPart?: boolean
}

export interface Series {
  readonly metric: ShownMetric
  readonly size: BucketSize
  readonly points: readonly Point[]
  readonly isCompared: boolean
  /** How many buckets the period has; more than points if a response does not have room for all. */
  readonly total: number
  /** The index of the bucket that still runs, so that its value is not final; undefined if none does. */
  readonly running: number | undefined
}

interface SeriesOptions {
  /** Whether the period ends at the moment of the response. */
  readonly endsNow: boolean
  /** That moment. */
  readonly now: Date
  /** The time zone of the response. */
  readonly zone: string
  /** Whether hours that are still to come are put after those of the response, to the end of the day. */
  readonly fillsDay?: boolean
}

/** Reads a series out of a response. Buckets that have not begun have no value, unless they have events already. */
export function readSeries(
  response: QueryResponse,
  { endsNow, now, zone, fillsDay = false }: SeriesOptions,
): Series {
  const { query, period, data, comparison, pagination } = response
  const [first = 'users'] = query.metrics
  // The page asks for metrics by these names.
  const metric = (typeof first === 'string' ? first : first.as) as ShownMetric
  const size = query.interval ?? 'day'
  const hasBegun = (date: string | undefined): boolean =>
    endsNow || Date.parse(date ?? '') <= now.getTime()
  const hasAll = pagination.total <= data.length
  const last = data.findLastIndex(({ group }) => hasBegun(group['date']))
  const isRunning = hasAll && last >= 0 && (endsNow || Date.parse(period.to) > now.getTime())
  const from = comparison && clockIn(zone, new Date(comparison.period.from))
  const periods = [period, ...(comparison === undefined ? [] : [comparison.period])]
  const [start, end] = judgeEnds(periods, size, zone)
  const points = data.map(({ group, metrics, comparison: compared }, i) => {
    const ends = [...(i === 0 ? [start] : []), ...(i === data.length - 1 ? [end] : [])]
    const isComparable = i <= last && !ends.some(({ isUneven }) => isUneven)
    return {
      label: group['date'] ?? '',
      value: i <= last || metrics[metric] !== 0 ? (metrics[metric] ?? undefined) : undefined,
      compared: compared?.metrics[metric] ?? undefined,
      comparedLabel: from === undefined ? undefined : findCompared(from, i, size),
      change: (isComparable ? compared?.change[metric] : undefined) ?? undefined,
      isPart: ends.some(({ isPart }) => isPart),
    }
  })
  const added =
    fillsDay && hasAll && size === 'hour' ? listHoursAfter(points.at(-1)?.label, zone) : []
  return {
    metric,
    size,
    isCompared: comparison !== undefined,
    total: hasAll ? points.length + added.length : pagination.total,
    running: isRunning ? last : undefined,
    points: [...points, ...added.map((label) => ({ label, value: undefined }))],
  }
}

/** The first or the last bucket of the period, and of the one that it is compared with. */
interface End {
  /** Whether the period has only a part of it. */
  readonly isPart: boolean
  /** Whether the periods have differently many days of it: three days of a week are no change from five. */
  readonly isUneven: boolean
}

/** @param periods the period, and the other one if there is one */
function judgeEnds(
  periods: readonly Range[],
  size: BucketSize,
  zone: string,
): readonly [start: End, end: End] {
  const dateOf = (moment: string): string => clockIn(zone, new Date(moment)).slice(0, 10)
  // Whole buckets count as equal, however many days a month has.
  const countDays = (from: string, step: 1 | -1): number => {
    if (isOfClock(size) || size === 'day') return 0
    let days = 0
    for (let date = from; !STARTS[size](date); date = addDays(date, step)) days += 1
    return days
  }
  const judge = ([own = 0, other = own]: readonly number[]): End => ({
    isPart: own > 0,
    isUneven: own !== other,
  })
  return [
    judge(periods.map(({ from }) => countDays(dateOf(from), 1))),
    judge(periods.map(({ to }) => countDays(addDays(dateOf(to), 1), -1))),
  ]
}

/** Whether a date is the first one of a bucket. */
const STARTS: Readonly<
  Record<Exclude<BucketSize, keyof typeof CLOCK_MS | 'day'>, (date: string) => boolean>
> = {
  week: (date) => new Date(date).getUTCDay() === 1,
  month: (date) => date.endsWith('-01'),
  quarter: (date) => /-(01|04|07|10)-01$/.test(date),
  year: (date) => date.endsWith('-01-01'),
}

/** The hours after one, to the end of its day. */
function listHoursAfter(label: string | undefined, zone: string): readonly string[] {
  const hours: string[] = []
  for (let ms = Date.parse(label ?? '') + CLOCK_MS.hour; ; ms += CLOCK_MS.hour) {
    if (Number.isNaN(ms)) return []
    const hour = labelIn(zone, ms)
    if (hour.slice(0, 10) !== label?.slice(0, 10)) return hours
    hours.push(hour)
  }
}

/** A moment as a label: what the clock of a zone shows, with its offset from UTC. */
function labelIn(zone: string, ms: number): string {
  const clock = clockIn(zone, new Date(ms))
  const minutes = (Date.parse(`${clock}Z`) - ms) / CLOCK_MS.minute
  const write = (part: number): string => String(Math.floor(part)).padStart(2, '0')
  return `${clock}${minutes < 0 ? '-' : '+'}${write(Math.abs(minutes) / 60)}:${write(Math.abs(minutes) % 60)}`
}

/**
 * Finds the bucket that another one is compared with: that of the same number in the other period. The date is that of the
 * time zone, as it is written. Hours and weeks would need the zone itself.
 *
 * @param from what the clock shows at the start of the other period, such as `2026-03-29T00:00:00`
 * @param index the number of the bucket, from 0
 */
function findCompared(from: string, index: number, size: BucketSize): string | undefined {
  const date = new Date(`${from.slice(0, 10)}T00:00:00Z`)
  if (size === 'day') date.setUTCDate(date.getUTCDate() + index)
  else if (size === 'month') date.setUTCMonth(date.getUTCMonth() + index, 1)
  else return undefined
  return date.toISOString()
}

/** Says which points are left out; undefined if none is. */
export function describeLeftOut({ points, total }: Series): string | undefined {
  const format = (count: number): string => count.toLocaleString('en')
  return total > points.length
    ? `Only the first ${format(points.length)} of ${format(total)} points are shown. A shorter period has fewer.`
    : undefined
}

/** Lists the indexes of the points whose value is not that of a whole bucket: the one that still runs, and those that the period cuts. */
export const listPartial = ({ points, running }: Series): readonly number[] =>
  points.flatMap(({ isPart = false }, i) => (isPart || i === running ? [i] : []))

/** The highest value of both periods. */
export const findHighest = ({ points }: Series): number =>
  Math.max(0, ...points.flatMap(({ value = 0, compared = 0 }) => [value, compared]))

/**
 * Finds the period of some buckets.
 *
 * @param labels the starts of all buckets, with their offsets from UTC
 * @param first the index of the first of them
 * @param last that of the last
 */
export function zoomInto(
  labels: readonly string[],
  size: BucketSize,
  first: number,
  last = first,
): Range | undefined {
  const [label, start] = [labels[first], labels[last]]
  if (label === undefined || start === undefined) return undefined
  const next = labels[last + 1]
  if (isOfClock(size)) {
    const end = next === undefined ? Date.parse(start) + CLOCK_MS[size] : Date.parse(next)
    return { from: formatSecond(Date.parse(label)), to: formatSecond(end - 1000) }
  }
  // The dates of the labels are those of the time zone of the page, as are those of a period.
  const from = label.slice(0, 10)
  return {
    from,
    to: next === undefined ? lastDateOf(start.slice(0, 10), size) : addDays(next.slice(0, 10), -1),
  }
}

/** The last date of a bucket that has none after it. @param from its first date */
function lastDateOf(from: string, size: Exclude<BucketSize, keyof typeof CLOCK_MS>): string {
  if (size === 'day') return from
  if (size === 'week') return addDays(from, 6)
  const months = { month: 1, quarter: 3, year: 12 }[size]
  return addDays(addMonths(from, months), -1)
}
