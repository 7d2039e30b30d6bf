/** Time zones by their IANA names. Their rules are those of the runtime: no other source is asked anywhere. */
import { LRUCache } from 'lru-cache'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time.js'

/** The form of a name. Newer runtimes also know offsets, such as `+05:30`; they are no names. */
const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]*$/

/** The zone of clocks that no other zone is named for. */
export const UTC = 'UTC'

/** The names of UTC itself. */
const UTC_NAMES = /^(?:etc\/)?(?:utc|uct|universal|zulu)$/i

/** How many zones are remembered: a formatter takes a quarter of a millisecond to create. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 200 })

/** @throws RangeError for a zone that the runtime does not know */
function getFormatter(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone)
  if (known !== undefined) return known
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  formatters.set(zone, formatter)
  return formatter
}

/** Whether the runtime knows a zone of this name. Letters of either case are accepted. */
export function isTimeZone(name: string): boolean {
  if (!NAME.test(name)) return false
  try {
    getFormatter(name)
    return true
  } catch {
    return false
  }
}

export const isUtc = (zone: string): boolean => UTC_NAMES.test(zone)

const OFFSET = /GMT(?:(?<sign>\D)(?<hours>\d\d):(?<minutes>\d\d)(?::(?<seconds>\d\d))?)?$/

/** Returns the milliseconds by which the clock of a zone is ahead of UTC at a moment; less than 0 in the west. */
export function getOffset(zone: string, at: number): number {
  if (isUtc(zone)) return 0
  const { sign, hours, minutes, seconds } = OFFSET.exec(getFormatter(zone).format(at))?.groups ?? {}
  const size =
    Number(hours ?? 0) * HOUR_MS +
    Number(minutes ?? 0) * MINUTE_MS +
    Number(seconds ?? 0) * SECOND_MS
  return sign === '+' ? size : -size
}

/** Returns what the clock of a zone shows at a moment, as the moment at which a clock in UTC shows it. */
export const toLocal = (zone: string, at: Date): Date =>
  new Date(at.getTime() + getOffset(zone, at.getTime()))

/**
 * Returns the first moment at which the clock of a zone shows `local` or later. That is the earlier one if the clock shows
 * `local` twice, and the end of the gap if it skips it.
 */
export function toInstant(zone: string, local: Date): Date {
  const [early, late] = [local.getTime() - DAY_MS, local.getTime() + DAY_MS]
  const [before, after] = [getOffset(zone, early), getOffset(zone, late)]
  const first = local.getTime() - before
  if (before === after) return new Date(first)
  const change = findChange(zone, early, late)
  return new Date(first < change ? first : Math.max(change, local.getTime() - after))
}

/** Finds when the offset of a zone changes between two moments at which it differs, to the second. */
function findChange(zone: string, from: number, to: number): number {
  const before = getOffset(zone, from)
  let [low, high] = [from, to]
  while (high - low > SECOND_MS) {
    const middle = Math.floor((low + high) / 2 / SECOND_MS) * SECOND_MS
    if (getOffset(zone, middle) === before) low = middle
    else high = middle
  }
  return high
}

/** Lists the moments after `from` at which the offset of a zone changes, up to `to`. */
export function listChanges(zone: string, from: number, to: number): readonly number[] {
  const changes: number[] = []
  let at = from
  while (at < to) {
    const next = Math.min(at + DAY_MS, to)
    const isSame = getOffset(zone, at) === getOffset(zone, next)
    at = isSame ? next : findChange(zone, at, next)
    if (!isSame) changes.push(at)
  }
  return changes
}

/**
 * Lists the moments at which a step of a zone's clock starts, such as an hour: from the step that `from` lies in to just before
 * `to`. A step also starts where the clock is changed: a repeated hour counts again, and one that is partly skipped or repeated
 * is short.
 *
 * @param stepMs the length of a step, of which an hour has a whole number
 */
export function listClockSteps(
  zone: string,
  stepMs: number,
  from: Date,
  to: Date,
): readonly number[] {
  const end = to.getTime()
  const starts: number[] = [findStep(zone, stepMs, from.getTime())]
  const changes = listChanges(zone, from.getTime(), end)
  let [at, next] = [from.getTime(), 0]
  while (at < end) {
    const offset = getOffset(zone, at)
    const change = changes[next] ?? end
    let start = floorTo(stepMs, at + offset) + stepMs - offset
    for (; start < change; start += stepMs) starts.push(start)
    if (change < end) starts.push(change)
    at = change
    next += 1
  }
  return starts
}

/** Returns the start of the step of a zone's clock that a moment lies in. */
function findStep(zone: string, stepMs: number, at: number): number {
  const offset = getOffset(zone, at)
  const start = floorTo(stepMs, at + offset) - offset
  return getOffset(zone, start) === offset ? start : findChange(zone, start, at)
}

const floorTo = (stepMs: number, ms: number): number => Math.floor(ms / stepMs) * stepMs

/**
 * Formats a moment as the clock of a zone shows it, with its offset: `2026-03-29T00:00:00+01:00`. Until 1972 some offsets had
 * seconds; they are rounded up to minutes, and the time with them, so that the text still means the same moment.
 */
export function formatLocal(zone: string, at: Date): string {
  const minutes = Math.ceil(getOffset(zone, at.getTime()) / MINUTE_MS)
  const local = new Date(at.getTime() + minutes * MINUTE_MS).toISOString().slice(0, -5)
  const size = Math.abs(minutes)
  const [hours, rest] = [Math.floor(size / 60), size % 60].map((n) => String(n).padStart(2, '0'))
  return `${local}${minutes < 0 ? '-' : '+'}${hours}:${rest}`
}
