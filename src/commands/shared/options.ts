/** Reads the values of options that several commands have. */
import { InvalidArgumentError } from 'commander'

/** What clears a value, or a list, that was set before. */
export const NONE = 'none'

/** Gathers the values of an option that may be given more than once. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
]

/** A number of days, or none. */
export function days(text: string): number | typeof NONE {
  if (text === NONE) return NONE
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError(`It is a number of days, or "${NONE}".`)
}

/** A number of things, one at least. */
export function count(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a whole number from 1 to 9999.')
}

/** The gathered values; `none` stands alone and is the empty list. */
export function values(gathered: readonly string[] | undefined): readonly string[] | undefined {
  return gathered?.length === 1 && gathered[0] === NONE ? [] : gathered
}

const DAY_MS = 86_400_000
const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

/** A moment to come: `30d` from now, a date (its start, in UTC) or an ISO time with its zone. */
export function expiry(text: string, now: Date): Date {
  const count = /^(?<days>[1-9]\d{0,4})d$/.exec(text)?.groups?.['days']
  if (count !== undefined) return new Date(now.getTime() + Number(count) * DAY_MS)
  const time = new Date(text)
  if (ISO.test(text) && !Number.isNaN(time.getTime()) && isOfCalendar(text.slice(0, 10)))
    return time
  throw new InvalidArgumentError(
    'It is a number of days such as 30d, or a date such as 2030-01-31.',
  )
}

/** Whether a date exists: JavaScript reads 30 February as 2 March. */
function isOfCalendar(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
}

/** The given fields without those that are undefined. */
export function defined<Fields extends object>(
  fields: Fields,
): { [F in keyof Fields]?: Exclude<Fields[F], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [F in keyof Fields]?: Exclude<Fields[F], undefined> }
}
