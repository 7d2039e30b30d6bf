/** Buckets of time as people read them. */
import { HOUR_MS, MINUTE_MS } from '../../lib/time.js'

/** The size of a bucket, as the API names it. */
export type BucketSize =
  'minute' | '15minutes' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

/** The lengths of the buckets that a clock shows, in milliseconds. Longer ones are those of a calendar. */
export const CLOCK_MS = { minute: MINUTE_MS, '15minutes': 15 * MINUTE_MS, hour: HOUR_MS } as const

/** Whether a bucket of this size is shorter than a day. */
export const isOfClock = (size: BucketSize): size is keyof typeof CLOCK_MS =>
  Object.hasOwn(CLOCK_MS, size)

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** From Sunday. */
export const WEEKDAYS = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ')

/**
 * Names a bucket. A label carries its own offset from UTC, so its date and hour are read from the text.
 *
 * @param label the start of the bucket, such as `2026-03-29T00:00:00+01:00`
 */
export function nameBucket(label: string, size: BucketSize): string {
  const [year, month, day] = label.slice(0, 10).split('-').map(Number)
  const name = MONTHS[(month ?? 1) - 1] ?? ''
  if (size === 'year') return `${year ?? ''}`
  if (size === 'quarter') return `Q${Math.ceil((month ?? 1) / 3)} ${year ?? ''}`
  if (size === 'month') return `${name} ${year ?? ''}`
  const date = `${day ?? ''} ${name}`
  if (isOfClock(size)) return `${date}, ${label.slice(11, 16)}`
  if (size === 'week') return `Week of ${date} ${year ?? ''}`
  const weekday = WEEKDAYS[new Date(`${label.slice(0, 10)}T00:00:00Z`).getUTCDay()] ?? ''
  return `${weekday} ${date} ${year ?? ''}`
}

/** What the clock shows at the start of a bucket, as milliseconds since 1970 of a clock in UTC. */
export const readClock = (label: string): number => Date.parse(`${label.slice(0, 16)}Z`)

/** Whether a bucket starts on a Saturday or a Sunday. */
export const isWeekend = (label: string): boolean =>
  new Date(readClock(label)).getUTCDay() % 6 === 0

/** Names a bucket in as few letters as an axis has room for: a midnight by its date, the first of January with its year. */
export function nameTick(label: string, size: BucketSize): string {
  const [year, month, day] = label.slice(0, 10).split('-')
  const name = MONTHS[Number(month) - 1] ?? ''
  const time = label.slice(11, 16)
  if (isOfClock(size) && time !== '00:00') return time
  if (size === 'year') return year ?? ''
  if (size === 'month' || size === 'quarter') return `${name} ${year ?? ''}`
  return [Number(day), name, ...(month === '01' && day === '01' ? [year] : [])].join(' ')
}

/**
 * Names a period in words, such as `1 Feb 2026 – 28 Feb 2026`, with the hours if it does not consist of days.
 *
 * @param from what the clock shows at its first second, such as `2026-02-01T00:00:00`
 * @param to the same at its last second
 */
export function namePeriod(from: string, to: string): string {
  const [fromDate, toDate] = [from, to].map((label) => nameBucket(label, 'day').slice(4))
  const isOfDays = from.slice(11, 19) === '00:00:00' && to.slice(11, 19) === '23:59:59'
  const put = (date: string | undefined, label: string): string =>
    isOfDays ? (date ?? '') : `${date ?? ''}, ${label.slice(11, 16)}`
  if (fromDate === toDate) {
    return isOfDays ? (fromDate ?? '') : `${put(fromDate, from)} – ${to.slice(11, 16)}`
  }
  return `${put(fromDate, from)} – ${put(toDate, to)}`
}
