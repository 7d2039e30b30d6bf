/** Reads the timestamps of events. */

const ISO_8601 =
  /^([1-9]\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))$/

const MINUTE = 60_000

/** The moment that an ISO 8601 text with `Z` or an offset names, in milliseconds; undefined for any other text. */
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
  // A day that its month does not have is one of the next.
  if (new Date(date).getUTCDate() !== Number(day)) return undefined
  const time = Number(hour) * 60 * MINUTE + Number(minute) * MINUTE + Number(second) * 1_000
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE
  return date + time + ms + (sign === '-' ? offset : -offset)
}
