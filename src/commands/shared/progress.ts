/** Numbers of rows and how fast they come, in words. */

const number = new Intl.NumberFormat('en-US')

/** A number with its thousands set apart. */
export const grouped = (value: number): string => number.format(value)

export interface Stopwatch {
  /** Seconds since it was made. */
  seconds(): number
  perSecond(rows: number): number
  /** E.g. `1,000 rows, 500 rows/s`. */
  rate(rows: number): string
}

export function stopwatch(): Stopwatch {
  const begun = performance.now()
  const seconds = (): number => (performance.now() - begun) / 1_000
  const perSecond = (rows: number): number => Math.round(rows / Math.max(seconds(), 0.001))
  return {
    seconds,
    perSecond,
    rate: (rows) =>
      `${grouped(rows)} ${rows === 1 ? 'row' : 'rows'}, ${grouped(perSecond(rows))} rows/s`,
  }
}
