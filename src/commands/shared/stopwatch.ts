/** Measures how fast rows are processed. */
import { SECOND_MS } from '../../lib/time.js'
import { formatCount, formatNumber } from './output.js'

export interface Stopwatch {
  /** Seconds since the start. */
  seconds(): number
  /** Rows per second since the start, rounded. */
  perSecond(rows: number): number
  /** For people: `1,000 rows, 500 rows/s`. */
  rate(rows: number): string
}

/** Avoids a division by zero for what takes no measurable time. */
const MIN_SECONDS = 0.001

export function startStopwatch(): Stopwatch {
  const start = performance.now()
  const seconds = (): number => (performance.now() - start) / SECOND_MS
  const perSecond = (rows: number): number => Math.round(rows / Math.max(seconds(), MIN_SECONDS))
  return {
    seconds,
    perSecond,
    rate: (rows) => `${formatCount(rows, 'row')}, ${formatNumber(perSecond(rows))} rows/s`,
  }
}
