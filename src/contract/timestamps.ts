/** Parses the two timestamp formats that the contracts accept: one for events, one for date ranges. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/time.js'

const ISO_8601 =
  /^([1-9]\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))$/

/**
 * Parses an ISO 8601 timestamp with `Z` or a UTC offset.
 *
 * @returns milliseconds since 1970; undefined for any other text. The fraction of a second is cut after its
 *   third digit.
 */
export function parseInstant(text: string): number | undefined {
  const parts = ISO_8601.exec(text)
  if (parts === null) return undefined
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second = 0,
    fraction = '',
    sign,
    hours = 0,
    minutes = 0,
  ] = parts
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // Date.UTC turns 30 February into 2 March: a day that moved does not exist.
  if (new Date(date).getUTCDate() !== Number(day)) return undefined
  const time = Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS + Number(second) * SECOND_MS
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const offset = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS
  return date + time + ms + (sign === '-' ? offset : -offset)
}

const DATE_OR_SECOND =
  /^(?<local>\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?=Z|[+-](?:[01]\d|2[0-3]):[0-5]\d$))?)(?:Z|[+-]\d{2}:\d{2})?$/

/** Whether `text` is an existing date (`YYYY-MM-DD`) or second (`YYYY-MM-DDThh:mm:ssZ`, or with an offset from UTC), in the years 1 to 9999. */
export function isUtcDateOrSecond(text: string): boolean {
  const local = DATE_OR_SECOND.exec(text)?.groups?.['local']
  if (local === undefined || local.startsWith('0000')) return false
  if (text.length > local.length !== local.length > 10) return false
  const moment = new Date(text)
  if (moment.getUTCFullYear() < 1 || moment.getUTCFullYear() > 9999) return false
  const second = local.length === 10 ? `${local}T00:00:00Z` : `${local}Z`
  const time = Date.parse(second)
  // Date.parse turns 30 February into 2 March, and 24:00:00 into the next day: a second that moved does not exist.
  return !Number.isNaN(time) && new Date(time).toISOString() === second.replace('Z', '.000Z')
}
