/** Cuts lists into pages. */
import { FieldValueError } from '../lib/errors.js'

interface Page<Row> {
  readonly rows: readonly Row[]
  /** Where the next page begins; null after the last row. */
  readonly nextCursor: string | null
}

/** Cuts a page from rows: one more was read than it may have. @param toCursor names the last row of a page */
export function cutPage<Row>(
  found: readonly Row[],
  limit: number,
  toCursor: (last: Row) => string,
): Page<Row> {
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return { rows, nextCursor: last === undefined ? null : toCursor(last) }
}

/**
 * Reads the time and the id of the row that a cursor names.
 *
 * @param pattern captures both
 * @throws FieldValueError for a cursor that no page gave
 */
export function parseCursor(pattern: RegExp, cursor: string): readonly [time: number, id: string] {
  const [, time, id] = pattern.exec(cursor) ?? []
  if (time === undefined || id === undefined) {
    throw new FieldValueError('cursor', 'the cursor is not one that a page gave')
  }
  return [Number(time), id]
}
