/** Compares the metrics of a query with those of another period. */
import type { RowComparison } from '../contract/api.js'
import { describeMetric, isNumberMetric, nameMetric, type QueryMetric } from '../model/metrics.js'

/**
 * Computes the change of a metric in per cent, or of a percentage in percentage points, rounded to two decimals; null if a value
 * is null, and for per cent of 0.
 */
export function computeChange(
  metric: QueryMetric,
  value: number | null,
  base: number | null,
): number | null {
  if (value === null || base === null) return null
  if (isNumberMetric(metric)) return computeChangeOfNumbers(value, base)
  // Other metrics have two decimals at most, so their hundredths are integers.
  const [now, before] = [Math.round(value * 100), Math.round(base * 100)]
  if (describeMetric(metric).isPercentage === true) return (now - before) / 100
  if (before === 0) return null
  return roundHalfUp(((now - before) * 10_000) / before) / 100
}

/** Rounds to an integer; halves away from 0, so that a change and its opposite are alike. */
const roundHalfUp = (value: number): number =>
  (value < 0 ? -1 : 1) * Math.floor(Math.abs(value) + 0.5) + 0

/** Numbers have nine decimals, so their billionths are integers, which may be large. The base may be below 0. */
function computeChangeOfNumbers(value: number, base: number): number | null {
  const [now, before] = [toBillionths(value), toBillionths(base)]
  if (before === 0n) return null
  const [difference, size] = [now - before, before < 0n ? -before : before]
  const sign = difference < 0n ? -1n : 1n
  return Number((sign * (2n * 10_000n * sign * difference + size)) / (2n * size)) / 100
}

const toBillionths = (value: number): bigint => BigInt(value.toFixed(9).replace('.', ''))

/** Reads a metric of a group, or of the totals, in one of the two periods. */
type ReadMetric = (metric: QueryMetric) => number | null

/** Builds the comparison of some metrics with those of the other period. */
export const shapeComparison = (
  metrics: readonly QueryMetric[],
  read: ReadMetric,
  readCompared: ReadMetric,
): RowComparison => ({
  metrics: Object.fromEntries(metrics.map((metric) => [nameMetric(metric), readCompared(metric)])),
  change: Object.fromEntries(
    metrics.map((metric) => [
      nameMetric(metric),
      computeChange(metric, read(metric), readCompared(metric)),
    ]),
  ),
})
