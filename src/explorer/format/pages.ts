/** Pages of rows as people read them. */

/** The part of all rows that an answer has. */
export interface RowWindow {
  readonly limit: number
  readonly offset: number
  readonly returned: number
  readonly total: number
}

const COUNT = new Intl.NumberFormat('en')

/** Describes which rows are shown, such as `1–50 of 1,234`. */
export function describeRows({ offset, returned, total }: RowWindow): string {
  if (total === 0) return 'Nothing found.'
  if (returned === 0) return `Nothing beyond ${COUNT.format(total)}.`
  return `${COUNT.format(offset + 1)}–${COUNT.format(offset + returned)} of ${COUNT.format(total)}`
}

/** The number of the last page, from 0. */
export const findLastPage = ({ limit, total }: RowWindow): number =>
  Math.max(0, Math.ceil(total / limit) - 1)
