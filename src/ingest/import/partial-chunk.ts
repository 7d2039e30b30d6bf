/** Tells of the loads of a piece what they came to without its last row. */
import type { Lines } from './lines.js'
import type { FinishedLoad } from '../loader/load-log.js'
import type { LoadReport } from '../loader/load-report.js'

/**
 * The loads as if the piece had been these lines alone, which are all but its last. What had become of the
 * last row is not known; an event is the likeliest.
 */
export function withoutLast(loads: readonly FinishedLoad[], lines: Lines): readonly FinishedLoad[] {
  let received = countRows(lines.bytes)
  return loads.map(({ load, report, rowsLeft: left }) => {
    const rowsLeft = left.filter((row) => row < lines.firstRow + lines.rows)
    const isLastDone = report.received > received && left.length === rowsLeft.length
    const without = { ...(isLastDone ? lessOne(report) : report), received }
    received = rowsLeft.length
    return { load, report: without, rowsLeft }
  })
}

function lessOne(report: LoadReport): LoadReport {
  const fates = ['events', 'duplicates', 'bots', 'excluded'] as const
  const fate = fates.find((one) => report[one] > 0)
  return fate === undefined ? report : { ...report, [fate]: report[fate] - 1 }
}

/** Lines that are not blank. */
const countRows = (bytes: Buffer): number =>
  bytes
    .toString('latin1')
    .split('\n')
    .filter((line) => /[^ \t\r]/.test(line)).length
