/** Sums up measured times, and prints them as a table. */

export interface Summary {
  readonly median: number
  readonly p95: number
}

/** One question, asked of the service and of ClickHouse itself. */
export interface Measured {
  readonly name: string
  readonly service: Summary
  readonly bare: Summary
}

/** The median and the 95th percentile of at least one time. */
export function summaryOf(times: readonly number[]): Summary {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!
  return { median: at(0.5), p95: at(0.95) }
}

const HEAD = ['question', 'service median', 'p95', 'bare median', 'p95', 'difference of medians']

/** Prints a table in Markdown. */
export function printTable(measured: readonly Measured[]): void {
  const ms = (value: number): string => value.toFixed(1)
  const lines = measured.map(({ name, service, bare }) => [
    name,
    ms(service.median),
    ms(service.p95),
    ms(bare.median),
    ms(bare.p95),
    ms(service.median - bare.median),
  ])
  const rule = HEAD.map((_, i) => (i === 0 ? '---' : '--:'))
  for (const line of [HEAD, rule, ...lines]) console.log(`| ${line.join(' | ')} |`)
}
