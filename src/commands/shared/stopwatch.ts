/** Measures how fast rows are processed. */
import { formatCount, formatNumber } from '../../lib/counts.js'
import { SECOND_MS } from '../../lib/time.js'

export interface Stopwatch {
  /** Returns the seconds since the start. */
  getSeconds(): number
  /** Returns the rows per second since the start, rounded. */
  computeRate(rows: number): number
  /** Formats a number of rows and their rate for people: `1,000 rows, 500 rows/s`. */
  formatRate(rows: number): string
}

/** Avoids a division by zero when the rows took no measurable time. */
const MIN_SECONDS = 0.001

/** Starts to measure the time. */
export function startStopwatch(): Stopwatch {
  const start = performance.now()
  const getSeconds = (): number => (performance.now() - start) / SECOND_MS
  const computeRate = (rows: number): number =>
    Math.round(rows / Math.max(getSeconds(), MIN_SECONDS))
  return {
    getSeconds,
    computeRate,
    formatRate: (rows) => `${formatCount(rows, 'row')}, ${formatNumber(computeRate(rows))} rows/s`,
  }
}
