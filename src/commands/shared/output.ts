/** Formats what commands print. */
import { isUnreachable } from '../../clickhouse/errors.js'

const COLUMN_GAP = '  '

/** Formats a value as indented JSON, for programs. */
export const formatJson = (value: unknown): string => JSON.stringify(value, undefined, 2)

/**
 * Formats rows of cells in aligned columns. The last cell of a row is not padded.
 *
 * @param isNumeric whether the column of that index is aligned to the right
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  isNumeric: (column: number) => boolean = () => false,
): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  }
  return rows
    .map((row) => row.map((cell, i) => pad(cell, widths[i] ?? 0, isNumeric(i))).join(COLUMN_GAP))
    .map((line) => line.trimEnd())
    .join('\n')
}

const pad = (cell: string, width: number, isNumeric: boolean): string =>
  isNumeric ? cell.padStart(width) : cell.padEnd(width)

/** Formats a time to the second: `2026-01-31 12:00:00 UTC`; `-` for null. */
export const formatTime = (time: Date | null): string =>
  time === null ? '-' : `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** Formats a list in one cell; `-` for an empty one. */
export const formatList = (values: readonly string[]): string =>
  values.length === 0 ? '-' : values.join(', ')

/** Lists the first names, and says how many more there are: `a, b and 3 more`. */
export function listFirst(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : ''
  return `${names.slice(0, most).join(', ')}${more}`
}

/** Escapes what controls a terminal: texts of visitors may have anything. */
export const escapeControls = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )

/** Formats an error as one line. */
export function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // When a host name has several addresses and each refuses, Node's error has a code and an empty message.
  const message = error.message === '' && 'code' in error ? String(error.code) : error.message
  const line = message.replaceAll(/\s+/g, ' ').trim()
  return isUnreachable(error) ? `ClickHouse does not respond: ${line}` : line
}
