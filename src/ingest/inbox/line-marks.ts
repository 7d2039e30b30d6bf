/**
 * The lines that a format reader may put in place of an event, as `insertBatch` reads them: a blank line for a row
 * that is skipped, and `\x15<reason>\x1f<row>` for a row that the reader found invalid.
 */
import { sql, type Sql } from '../../clickhouse/sql.js'

/** A skipped row: later rows keep their line numbers, and no report counts it. */
export const SKIPPED_LINE = ''

/** The marks around the reason of an invalid row. */
export const INVALID_LINE = { start: '\x15', end: '\x1f' } as const

/** Writes the line of an invalid row; the reason and the row are put on one line. */
export const markInvalid = (reason: string, row: string): string =>
  `${INVALID_LINE.start}${toOneLine(reason)}${INVALID_LINE.end}${toOneLine(row)}`

/** Returns the row of a line that may be marked as invalid. */
export const unmarkInvalid = (line: string): string =>
  line.startsWith(INVALID_LINE.start) ? line.slice(line.indexOf(INVALID_LINE.end) + 1) : line

/** Writes the line of a row that is not UTF-8; `row` is its text with U+FFFD in place of invalid bytes. */
export const markNotUtf8 = (row: string): string => markInvalid('is not valid UTF-8', row)

/** The same as `markNotUtf8`, in SQL. */
export const markNotUtf8Sql = (row: Sql): Sql =>
  sql`concat('\\x15is not valid UTF-8\\x1f', ${toOneLineSql(row)})`

/** Replaces line ends with spaces. */
export const toOneLine = (text: string): string => text.replace(/[\r\n]/g, ' ')

/** The same as `toOneLine`, in SQL. */
export const toOneLineSql = (value: Sql): Sql => sql`translate(${value}, '\\r\\n', '  ')`
