/** Prints the summary of an import, for people or programs. */
import type { LoadReport } from '../../ingest/loader/load-report.js'
import { formatNumber } from '../../lib/counts.js'
import type { CommandContext } from '../shared/context.js'
import { formatJson, formatTable, formatTime } from '../shared/output.js'
import type { Stopwatch } from '../shared/stopwatch.js'

/** What happened to the rows of all sources. */
export interface ImportTotal extends LoadReport {
  /** Rows that are not events. */
  readonly skipped: number
  /** Distinct users of the events; null for a dry run of several sources, which may share some. */
  readonly users: number | null
  /** Distinct sessions of the events; null as above. */
  readonly sessions: number | null
}

interface SummaryOptions {
  readonly json?: boolean
  readonly dryRun?: boolean
}

/** Prints the summary: a table, or JSON with the same names in camelCase. */
export function printSummary(
  { print }: CommandContext,
  { received, events, duplicates, bots, excluded, rejected, ...total }: ImportTotal,
  stopwatch: Stopwatch,
  rejectedFiles: readonly string[],
  { json: asJson = false, dryRun = false }: SummaryOptions,
): void {
  const { skipped, users, sessions, first, last } = total
  const read = received + skipped
  const counts = { read, loaded: events, duplicates, bots, excluded, rejected }
  const seconds = stopwatch.getSeconds()
  const rowsPerSecond = stopwatch.computeRate(read)
  if (asJson) {
    const found = { ...counts, skipped, users, sessions, first, last, dryRun }
    const speed = { seconds: Number(seconds.toFixed(3)), rowsPerSecond }
    print(formatJson({ ...found, ...speed, rejectedFiles }))
    return
  }
  const rows = [
    ...Object.entries({ ...counts, skipped, users, sessions }).map(([name, value]) => [
      name,
      value === null ? '-' : formatNumber(value),
    ]),
    ['first', formatTime(first)],
    ['last', formatTime(last)],
    ['seconds', seconds.toFixed(1)],
    ['rows per second', formatNumber(rowsPerSecond)],
    ...rejectedFiles.map((file) => ['rejected file', file]),
    ...(dryRun ? [['dry run', 'nothing was imported']] : []),
  ]
  print(formatTable(rows))
}
