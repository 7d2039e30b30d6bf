/** Numbers as people read them: counts, shares, durations, changes, and pages of rows. */

/** Creates a format when a number is first written, so that the first request does not wait for it. */
function formatBy(options: Intl.NumberFormatOptions): (value: number) => string {
  let format: Intl.NumberFormat | undefined
  return (value) => (format ??= new Intl.NumberFormat('en', options)).format(value)
}

const inFull = formatBy({})
const compactly = formatBy({ notation: 'compact', maximumFractionDigits: 1 })
const withTenths = formatBy({ minimumFractionDigits: 1, maximumFractionDigits: 1 })
const withCents = formatBy({ minimumFractionDigits: 2, maximumFractionDigits: 2 })
const withThreeDigits = formatBy({ maximumSignificantDigits: 3 })
const briefly = formatBy({ maximumFractionDigits: 1 })

/** Formats a count in full up to 99,999, and shorter beyond, such as `1.2M`. */
export const formatCount = (count: number): string =>
  Math.abs(count) < 100_000 ? inFull(count) : compactly(count)

/** Formats an amount: as a count, and with cents below 1,000, such as `59.90`. */
export const formatAmount = (amount: number): string =>
  Math.abs(amount) < 1000 && !Number.isInteger(amount)
    ? withCents(amount)
    : formatCount(Math.round(amount))

/** Formats any number: as a count, and with three digits below 1,000, such as `0.0523`. */
export const formatNumber = (value: number): string =>
  Math.abs(value) < 1000 ? withThreeDigits(value) : formatCount(Math.round(value))

/**
 * Formats a number per hundred with one decimal, such as `41.0%`, so that columns of them are aligned. Only nothing is written as
 * `0.0%`, and only the whole as `100.0%`.
 */
export function formatPercent(value: number): string {
  const text = `${withTenths(value)}%`
  if (text === '0.0%' && value > 0) return '<0.1%'
  return text === '100.0%' && value < 100 ? '>99.9%' : text
}

/** Formats a number per hundred in as few letters as an axis has room for, such as `40%`. */
export const formatPercentTick = (value: number): string => `${briefly(value)}%`

/** Formats seconds, such as `2m 08s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  if (hours > 0) return `${hours}h ${String(minutes).padStart(2, '0')}m`
  return minutes > 0 ? `${minutes}m ${String(rest).padStart(2, '0')}s` : `${rest}s`
}

/** Formats the part of a whole; empty if the whole is nothing. */
export const formatShare = (part: number, whole: number): string =>
  whole > 0 ? formatPercent((100 * part) / whole) : ''

/** Formats a change with its sign, such as `+2.8%`, and without a decimal from 100 on. @param unit after the number: per cent, or percentage points */
export function formatChange(change: number, unit = '%'): string {
  const size =
    Math.abs(change) < 100
      ? withTenths(Math.abs(change))
      : formatCount(Math.round(Math.abs(change)))
  const sign = size === '0.0' ? '' : change > 0 ? '+' : '−'
  return sign + size + unit
}

/** The part of all rows that a response has. */
interface RowWindow {
  readonly limit: number
  readonly offset: number
  readonly returned: number
  readonly total: number
}

/** Describes which rows are shown, such as `1–50 of 1,234`. */
export function describeRows({ offset, returned, total }: RowWindow): string {
  if (total === 0) return 'Nothing found.'
  if (returned === 0) return `Nothing beyond ${inFull(total)}.`
  return `${inFull(offset + 1)}–${inFull(offset + returned)} of ${inFull(total)}`
}

/** The number of the last page, from 0. */
export const findLastPage = ({ limit, total }: RowWindow): number =>
  Math.max(0, Math.ceil(total / limit) - 1)
