/** Parses option values that several commands share. */
import { InvalidArgumentError } from 'commander'
import { ADMIN_SCOPES, isAdminScope, type AdminScope } from '../../contract/admin-scopes.js'
import { isScope, SCOPES, type Scope } from '../../contract/scopes.js'
import { addDays } from '../../lib/time.js'

/** The value that clears a field or a list. */
export const NONE = 'none'

/** Collects the values of an option that can be repeated. */
export const appendValue = (value: string, previous: readonly string[] = []): readonly string[] => [
  ...previous,
  value,
]

/**
 * Parses a number of days, or `none`.
 *
 * @throws InvalidArgumentError
 */
export function parseDays(text: string): number | typeof NONE {
  if (text === NONE) return NONE
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError(`Expected a number of days, or "${NONE}".`)
}

/**
 * Parses a whole number from 1 to 9999.
 *
 * @throws InvalidArgumentError
 */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected a whole number from 1 to 9999.')
}

/** Returns the collected values of an option. A single `none` means the empty list. */
export function parseClearableList(
  values: readonly string[] | undefined,
): readonly string[] | undefined {
  return values?.length === 1 && values[0] === NONE ? [] : values
}

const ISO_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

/** What `parseExpiry` reads, for help texts. */
export const WHEN_HELP = 'days such as 30d, a date (its start in UTC), or an ISO 8601 time'

/**
 * Parses an expiry: days from `now` such as `30d`, a date (its start in UTC), or an ISO 8601 time with a zone.
 *
 * @throws InvalidArgumentError
 */
export function parseExpiry(text: string, now: Date): Date {
  const days = /^(?<days>[1-9]\d{0,4})d$/.exec(text)?.groups?.['days']
  if (days !== undefined) return addDays(now, Number(days))
  const time = new Date(text)
  const isTime = ISO_TIME.test(text) && !Number.isNaN(time.getTime())
  if (isTime && isCalendarDate(text.slice(0, 10))) return time
  throw new InvalidArgumentError(
    'Expected days such as 30d, a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z.',
  )
}

/**
 * Parses scopes of API keys, joined by commas.
 *
 * @throws InvalidArgumentError
 */
export function parseScopes(text: string): readonly Scope[] {
  const names = parseNames(text)
  if (names.every(isScope)) return names
  throw new InvalidArgumentError(`Expected scopes, joined by commas: ${SCOPES.join(', ')}.`)
}

/**
 * Parses the scopes of an admin key.
 *
 * @throws InvalidArgumentError
 */
export function parseAdminScopes(text: string): readonly AdminScope[] {
  const names = parseNames(text)
  if (names.every(isAdminScope)) return names
  const known = ADMIN_SCOPES.join(', ')
  throw new InvalidArgumentError(`Expected scopes of admin keys, joined by commas: ${known}.`)
}

const parseNames = (text: string): readonly string[] => text.split(',').map((name) => name.trim())

/**
 * Parses a day such as 2026-01-31, as its start in UTC.
 *
 * @throws InvalidArgumentError
 */
export function parseDay(text: string): Date {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && isCalendarDate(text)) return new Date(text)
  throw new InvalidArgumentError('Expected a day, such as 2026-01-31.')
}

/** Returns whether a date exists: JavaScript reads 30 February as 2 March. */
function isCalendarDate(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
}

/** Returns the fields that are not undefined. */
export function omitUndefined<Fields extends object>(
  fields: Fields,
): { [F in keyof Fields]?: Exclude<Fields[F], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [F in keyof Fields]?: Exclude<Fields[F], undefined> }
}
