/** Estimates how long queries run, from those that ended lately. */

export interface RunTimes {
  /** Takes note of a query that ran for this many milliseconds. */
  add(ms: number): void
  /** The mean of the latest queries in milliseconds; undefined before the first. */
  mean(): number | undefined
  /** A time in milliseconds within which most queries end; undefined before the first. */
  most(): number | undefined
}

/** The weight of the latest query, in the mean and in the mean deviation from it: those of RFC 6298 §2. */
const MEAN_WEIGHT = 1 / 8
const DEVIATION_WEIGHT = 1 / 4
/** Nine of ten run times that are exponentially distributed lie below the mean and two mean deviations. */
const DEVIATIONS = 2

/** Creates an estimate that follows the moving average of run times. */
export function createRunTimes(): RunTimes {
  let mean: number | undefined
  let deviation = 0
  return {
    add(ms) {
      if (mean !== undefined) {
        deviation += DEVIATION_WEIGHT * (Math.abs(ms - mean) - deviation)
      }
      mean = mean === undefined ? ms : mean + MEAN_WEIGHT * (ms - mean)
    },
    mean: () => mean,
    most: () => (mean === undefined ? undefined : mean + DEVIATIONS * deviation),
  }
}
