/** Formats numbers for people, in messages and tables. */

const groupedNumber = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 })

/** Formats a number with thousands separators: `1,234,567`. */
export const formatNumber = (value: number): string => groupedNumber.format(value)

/** Formats a count with its noun: `1 event`, `2,000 events`. */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`
