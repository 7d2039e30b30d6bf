/** Chooses at random from a table in which each row has a weight. */
import type { Random } from './random.js'

export interface Weighted {
  readonly weight: number
}

/** Chooses a row. A row with twice the weight is chosen twice as often. */
export type Choose<Row> = (random: Random) => Row

/** Creates a function that chooses from a table. @throws RangeError when the table is empty */
export function createChooser<Row extends Weighted>(rows: readonly Row[]): Choose<Row> {
  const last = rows.at(-1)
  if (last === undefined) throw new RangeError('the table is empty')
  // Likely rows come first, so that the loop below ends after few steps.
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

/** Adds weights that fall with the rank, as popularity does: `first`, `first` / 2, `first` / 3 … */
export const addRankedWeights = <Row extends object>(
  rows: readonly Row[],
  first: number,
): readonly (Row & Weighted)[] => rows.map((row, i) => ({ ...row, weight: first / (i + 1) }))
