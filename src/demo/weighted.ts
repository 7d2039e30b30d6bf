/** Choosing from a table in which each row has a weight. */
import type { Random } from './random.js'

export interface Weighted {
  readonly weight: number
}

/** Chooses a row; one of twice the weight comes twice as often. */
export type Choose<Row> = (random: Random) => Row

/** Prepares a table, which must not be empty, for choosing from it. */
export function chooser<Row extends Weighted>(rows: readonly Row[]): Choose<Row> {
  const last = rows.at(-1)
  if (last === undefined) throw new RangeError('there is nothing to choose from')
  // The likely rows are looked at first.
  const sorted = rows.toSorted((a, b) => b.weight - a.weight)
  const total = rows.reduce((sum, { weight }) => sum + weight, 0)
  return (random) => {
    let left = random.next() * total
    for (const row of sorted) {
      left -= row.weight
      if (left < 0) return row
    }
    return last
  }
}

/** Weights that fall with the place, as the popularity of things does: 1, 1/2, 1/3 … of the first. */
export const ranked = <Row extends object>(
  rows: readonly Row[],
  first: number,
): readonly (Row & Weighted)[] =>
  rows.map((row, place) => ({ ...row, weight: first / (place + 1) }))
