/** The summary of an import, for people or programs. */
import type { LoadReport } from '../ingest/loader/log.js'
import type { CommandContext } from './context.js'
import { json, table } from './output.js'
import { grouped, type Stopwatch } from './progress.js'

/** Prints what became of all rows. */
export function printSummary(
  { print }: CommandContext,
  { received, events, duplicates, excluded, rejected }: LoadReport,
  watch: Stopwatch,
  rejectedFiles: readonly string[],
  options: { readonly json?: boolean },
): void {
  const counts = { read: received, loaded: events, duplicates, excluded, rejected }
  const seconds = watch.seconds()
  const rowsPerSecond = watch.perSecond(received)
  if (options.json === true) {
    print(json({ ...counts, seconds: Number(seconds.toFixed(3)), rowsPerSecond, rejectedFiles }))
    return
  }
  const lines = [
    ...Object.entries(counts).map(([name, rows]) => [name, grouped(rows)]),
    ['seconds', seconds.toFixed(1)],
    ['rows/s', grouped(rowsPerSecond)],
    ...rejectedFiles.map((file) => ['see', file]),
  ]
  print(table(lines))
}
