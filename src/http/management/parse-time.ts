/** Parses the times of requests, which the contract has checked. */
import { parseInstant } from '../../contract/timestamps.js'
import { FieldValueError } from '../../lib/errors.js'

/** @throws FieldValueError for a text that is no time */
export function parseTime(field: string, text: string): Date {
  const time = parseInstant(text)
  if (time === undefined) throw new FieldValueError(field, 'is not a time')
  return new Date(time)
}
