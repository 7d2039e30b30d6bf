/** The summary of an import, for people or programs. */
import type { LoadReport } from '../../ingest/loader/load-report.js'
import type { CommandContext } from '../shared/context.js'
import { json, moment, table } from '../shared/output.js'
import { grouped, type Stopwatch } from '../shared/progress.js'

/** What became of all rows of all sources. */
export interface ImportTotal extends LoadReport {
  readonly skipped: number
  /** Those that the events are of; null for a dry run of several sources, which may have some in common. */
  readonly users: number | null
  readonly sessions: number | null
}

interface SummaryOptions {
  readonly json?: boolean
  readonly dryRun?: boolean
}

/** Prints what became of all rows. */
export function printSummary(
  { print }: CommandContext,
  { received, events, duplicates, bots, excluded, rejected, ...total }: ImportTotal,
  watch: Stopwatch,
  rejectedFiles: readonly string[],
  { json: asJson = false, dryRun = false }: SummaryOptions,
): void {
  const { skipped, users, sessions, first, last } = total
  const read = received + skipped
  const counts = { read, loaded: events, duplicates, bots, excluded, rejected }
  const seconds = watch.seconds()
  const rowsPerSecond = watch.perSecond(read)
  if (asJson) {
    const parts = { ...counts, passedOver: skipped, users, sessions, first, last, dryRun }
    print(json({ ...parts, seconds: Number(seconds.toFixed(3)), rowsPerSecond, rejectedFiles }))
    return
  }
  const lines = [
    ...Object.entries({ ...counts, 'passed over': skipped, users, sessions }).map(
      ([name, value]) => [name, value === null ? '-' : grouped(value)],
    ),
    ['first', moment(first)],
    ['last', moment(last)],
    ['seconds', seconds.toFixed(1)],
    ['rows/s', grouped(rowsPerSecond)],
    ...rejectedFiles.map((file) => ['see', file]),
    ...(dryRun ? [['dry run', 'nothing was written']] : []),
  ]
  print(table(lines))
}
