/** Time zones as a clock shows them, looked at every quarter of an hour: no code of the service. */

const MINUTE = 60_000
const QUARTER = 15 * MINUTE
const HOUR = 60 * MINUTE
const QUARTERS = 24 * QUARTER
const DAY = 24 * HOUR

/** Zones with every trap that is known: odd offsets, changes of half an hour, at midnight, of two hours; zones far from UTC. */
export const ZONES = [
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Africa/Cairo',
  'America/Havana',
  'Pacific/Apia',
  'Antarctica/Troll',
  'Asia/Kolkata',
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'America/St_Johns',
  'America/Asuncion',
  'Asia/Beirut',
  'Atlantic/Azores',
  'Africa/Casablanca',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Etc/GMT+12',
  'Asia/Tokyo',
] as const

/** Chooses a zone for a range; none if one end is a date and the other is not, because their order may differ there. */
export const chooseZone = (
  [from, to]: readonly [string, string],
  pick: number,
): { readonly time_zone?: string } =>
  from.length === to.length ? { time_zone: ZONES[pick % ZONES.length] ?? 'UTC' } : {}

export type BucketSize =
  'minute' | '15minutes' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'

export interface ZoneBucket {
  /** Its start in milliseconds. */
  readonly from: number
  readonly label: string
}

const clocks = new Map<string, Intl.DateTimeFormat>()

function lookAtClock(zone: string, at: number): number {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  clocks.set(zone, clock)
  return Date.parse(`${clock.format(at).replace(' ', 'T')}Z`) - at
}

const offsets = new Map<string, number>()

/** The offset of a zone at a midnight of UTC. */
function offsetAtMidnight(zone: string, day: number): number {
  const key = `${zone} ${day}`
  const offset = offsets.get(key) ?? lookAtClock(zone, day * DAY)
  offsets.set(key, offset)
  return offset
}

/** The offset of a zone at a quarter of an hour, in milliseconds. */
function offsetAt(zone: string, at: number): number {
  const day = Math.floor(at / DAY)
  const [before, after] = [offsetAtMidnight(zone, day), offsetAtMidnight(zone, day + 1)]
  return before === after ? before : lookAtClock(zone, at)
}

/** What the clock shows: `2026-01-31T10:15:00`. */
const show = (at: number, offset: number): string =>
  new Date(at + offset).toISOString().slice(0, 19)

const mondayOf = (date: string): string => {
  const day = Date.parse(date) / DAY
  return new Date((day - ((day + 3) % 7)) * DAY).toISOString().slice(0, 10)
}

/** The sizes of buckets that begin with a quarter of an hour. */
type LongSize = Exclude<BucketSize, 'minute'>

/** Names the bucket of a moment, by what the clock shows. */
function nameBucket(size: LongSize, shown: string, offset: number): string {
  const date = shown.slice(0, 10)
  const month = Number(shown.slice(5, 7))
  switch (size) {
    case '15minutes':
      return `${shown} ${offset}`
    case 'hour':
      return `${shown.slice(0, 13)} ${offset}`
    case 'day':
      return date
    case 'week':
      return mondayOf(date)
    case 'month':
      return shown.slice(0, 7)
    case 'quarter':
      return `${shown.slice(0, 4)} ${Math.ceil(month / 3)}`
    case 'year':
      return shown.slice(0, 4)
  }
}

function label(at: number, offset: number): string {
  const minutes = Math.abs(offset) / MINUTE
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((n) =>
    String(n).padStart(2, '0'),
  )
  return `${show(at, offset)}${offset < 0 ? '-' : '+'}${hours}:${rest}`
}

const REACH: Readonly<Record<LongSize, number>> = {
  '15minutes': HOUR,
  hour: 2 * HOUR,
  day: 3 * DAY,
  week: 9 * DAY,
  month: 33 * DAY,
  quarter: 94 * DAY,
  year: 368 * DAY,
}

/** Clocks are set at full minutes, so these are the same everywhere. */
function listMinutes(zone: string, from: number, to: number): readonly ZoneBucket[] {
  const first = Math.floor(from / MINUTE)
  return Array.from({ length: Math.ceil(to / MINUTE) - first }, (_, i) => {
    const at = (first + i) * MINUTE
    return { from: at, label: label(at, offsetAt(zone, Math.floor(at / QUARTER) * QUARTER)) }
  })
}

/** Lists the buckets of a zone in a period, in milliseconds; its end is not in it. */
export function listZoneBuckets(
  zone: string,
  size: BucketSize,
  from: number,
  to: number,
): readonly ZoneBucket[] {
  if (size === 'minute') return listMinutes(zone, from, to)
  const isOfClock = size === 'hour' || size === '15minutes'
  const buckets: ZoneBucket[] = []
  let last = ''
  const start = Math.floor((from - REACH[size]) / QUARTER) * QUARTER
  const nameAt = (at: number): string => {
    const offset = offsetAt(zone, at)
    return nameBucket(size, show(at, offset), offset)
  }
  for (let at = start; at < to; at += QUARTER) {
    // Names grow with time, so none is new before one that is not.
    while (!isOfClock && at + QUARTERS < to && nameAt(at + QUARTERS) <= last) at += QUARTERS
    const name = nameAt(at)
    // A clock that is set back does not go back to an earlier day.
    const isNew = isOfClock ? name !== last : name > last
    if (!isNew) continue
    last = name
    buckets.push({ from: at, label: label(at, offsetAt(zone, at)) })
  }
  // The first one may have begun before it was looked at.
  const first = buckets.findLastIndex(({ from: began }) => began <= from)
  return buckets.slice(first)
}

/** Finds the first quarter of an hour at which the clock of a zone shows this time or later. */
export function findInstant(zone: string, local: number): number {
  let at = Math.floor(local / QUARTER) * QUARTER - DAY
  while (at + offsetAt(zone, at) < local) at += QUARTER
  return at
}

/** What the clock of a zone shows at a moment, in milliseconds as if it were one of UTC. */
export const readClock = (zone: string, at: number): number => at + offsetAt(zone, at)
