/** Buckets of time as people read them. */

/** The size of a bucket, as the API names it. */
export type BucketSize = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const WEEKDAYS = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ')

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
  if (size === 'hour' || size === 'minute') return `${date}, ${label.slice(11, 16)}`
  if (size === 'week') return `Week of ${date} ${year ?? ''}`
  const weekday = WEEKDAYS[new Date(`${label.slice(0, 10)}T00:00:00Z`).getUTCDay()] ?? ''
  return `${weekday} ${date} ${year ?? ''}`
}

/** Names a bucket in as few letters as an axis has room for. */
export function nameTick(label: string, size: BucketSize): string {
  const [year, month, day] = label.slice(0, 10).split('-')
  const name = MONTHS[Number(month) - 1] ?? ''
  if (size === 'hour' || size === 'minute') return label.slice(11, 16)
  if (size === 'year') return year ?? ''
  return size === 'month' || size === 'quarter' ? `${name} ${year ?? ''}` : `${Number(day)} ${name}`
}
