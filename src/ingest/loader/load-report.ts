/** The report of a load: the number of rows with each outcome, and the period of the events. */
import type { Logger } from '../../lib/log.js'
import { join, optionalTime, sql, uint64, type Sql } from '../../clickhouse/sql.js'

/** The counters of a report, each with its column of `loads`. */
const COUNTERS = {
  /** Rows of the batch; blank lines do not count. */
  received: sql`received`,
  /** Rows that became events. */
  events: sql`events`,
  /** Rows whose event id was loaded before, or occurs earlier in the batch. */
  duplicates: sql`duplicates`,
  /** Rows whose user agent is a bot's. */
  bots: sql`bots`,
  /** Rows from addresses or countries that the project excludes. */
  excluded: sql`excluded`,
  /** Invalid rows. */
  rejected: sql`rejected`,
}
type Counter = keyof typeof COUNTERS
export type LoadCounts = Readonly<Record<Counter, number>>

export type LoadReport = LoadCounts & {
  /** When the earliest event happened; null without events. */
  readonly first: Date | null
  /** When the latest event happened; null without events. */
  readonly last: Date | null
}

/** A report as a statement selects it: `first` and `last` are milliseconds since 1970. */
export type ReportRow = LoadCounts & {
  readonly first: number | null
  readonly last: number | null
}

/** The columns of `loads` that hold a report, in the order of `buildReportValues`. */
export const REPORT_COLUMNS = join([...Object.values(COUNTERS), sql`first_at`, sql`last_at`])

/** Selects a ReportRow from `loads`. */
export const SELECT_REPORT = sql`${join(Object.values(COUNTERS))},
  toUnixTimestamp64Milli(first_at) AS first, toUnixTimestamp64Milli(last_at) AS last`

/** Builds the values of REPORT_COLUMNS. */
export const buildReportValues = (report: LoadReport): Sql =>
  join([
    ...Object.values(pickCounts(report)).map(uint64),
    optionalTime(report.first),
    optionalTime(report.last),
  ])

/** Picks the counters of a report, without the period. */
export const pickCounts = (report: LoadCounts): LoadCounts =>
  mapCounters((counter) => report[counter])

/** The report of a batch without rows. */
export const EMPTY_REPORT: LoadReport = { ...mapCounters(() => 0), first: null, last: null }

/** Adds the reports of two batches, whose period then covers both. */
export const addReports = (a: LoadReport, b: LoadReport): LoadReport => ({
  ...mapCounters((counter) => a[counter] + b[counter]),
  first: [a.first, b.first].reduce((x, y) => (x === null || (y !== null && y < x) ? y : x)),
  last: [a.last, b.last].reduce((x, y) => (x === null || (y !== null && y > x) ? y : x)),
})

/** Converts a selected row to a report. */
export const parseReport = (row: ReportRow): LoadReport => ({
  ...pickCounts(row),
  first: toDate(row.first),
  last: toDate(row.last),
})

const toDate = (ms: number | null): Date | null => (ms === null ? null : new Date(ms))

function mapCounters(count: (counter: Counter) => number): LoadCounts {
  const counters = Object.keys(COUNTERS) as Counter[]
  return Object.fromEntries(counters.map((counter) => [counter, count(counter)])) as Record<
    Counter,
    number
  >
}

/** Logs a load, and warns of rejected rows. */
export function logReport(logger: Logger, report: LoadReport): void {
  const { rejected } = report
  logger.debug(pickCounts(report), 'events loaded')
  if (rejected > 0) {
    logger.warn({ rejected }, 'rows were rejected; the table rejections has them, with the reasons')
  }
}
