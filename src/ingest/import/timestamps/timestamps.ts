/**
 * Reads the timestamps of files. Beside those of the contract, files may have the forms that databases and programs write. The
 * collector is stricter, because a program that sends events can be changed; a file is as it is.
 */
import { parseInstant } from '../../../contract/timestamps.js'
import { toInstant } from '../../../lib/time-zone.js'

/** A timestamp of a file. */
interface FileTimestamp {
  readonly at: Date
  /** Whether it names no zone or offset, so that it was read in the zone of the import. */
  readonly isZoneless: boolean
}

const DATE = String.raw`(\d{4}-\d{2}-\d{2})`
const TIME = String.raw`(\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?`
const ZONE = String.raw`Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?`

/** A date, or a date and a time, with or without a zone. */
const FORM = new RegExp(`^${DATE}(?:[T ]${TIME}(?: ?(${ZONE}))?)?$`, 'i')

const HOURS_ONLY = /^[+-]\d{2}$/

/**
 * A Unix time, whose number of digits tells its unit: seconds, milliseconds or microseconds from 1973 to 2099. Shorter numbers are
 * refused: `20261101` is a date.
 */
const UNIX_FORM = /^(?:(\d{9,10}(?:\.\d+)?)|(\d{12,13})|(\d{15,16}))$/

/**
 * Parses a timestamp: `2026-11-01`, `2026-11-01T10:00`, `2026-11-01 10:00:00.123`, each time also with `Z`, `UTC`, `GMT` or an
 * offset, as `+00`; or a Unix time. A date is its first moment. The fraction of a second is cut after its third digit.
 *
 * @param zone the IANA name of the zone of timestamps that name none. If its clock showed the time twice, the earlier moment
 *   counts; if its clock skipped it, the moment of the change.
 * @returns undefined for any other text, and for a date that does not exist
 */
export function parseFileTimestamp(text: string, zone: string): FileTimestamp | undefined {
  const match = FORM.exec(text)
  if (match === null) return parseUnixTime(text)
  const [, date, time = '00:00', seconds = '00', fraction = '0', given] = match
  const ms = parseInstant(`${date}T${time}:${seconds}.${fraction}${writeOffset(given)}`)
  if (ms === undefined) return undefined
  const isZoneless = given === undefined
  return { at: isZoneless ? toInstant(zone, new Date(ms)) : new Date(ms), isZoneless }
}

/** Writes a zone as `parseInstant` reads it. */
function writeOffset(zone = 'Z'): string {
  if (/^[A-Z]/i.test(zone)) return 'Z'
  return HOURS_ONLY.test(zone) ? `${zone}:00` : zone
}

function parseUnixTime(text: string): FileTimestamp | undefined {
  const [, seconds, milliseconds, microseconds] = UNIX_FORM.exec(text) ?? []
  const ms =
    seconds === undefined
      ? Number(milliseconds ?? Number(microseconds) / 1_000)
      : Number(seconds) * 1_000
  return Number.isNaN(ms) ? undefined : { at: new Date(Math.floor(ms)), isZoneless: false }
}
