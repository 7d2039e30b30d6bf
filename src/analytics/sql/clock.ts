/** Writes what the clock of a zone shows at a moment, as the key of a group. */
import { LRUCache } from 'lru-cache'
import { int64, int64s, sql, type Sql } from '../../clickhouse/sql.js'
import { SECOND_MS } from '../../lib/time.js'
import { getOffset, isUtc, listChanges } from '../../lib/time-zone.js'
import { EVENT_LIMITS } from '../../model/event-fields.js'
import type { Period } from '../request/period.js'
import type { ClockGrouping } from '../request/query.js'

const KEYS: Readonly<Record<ClockGrouping['part'], (local: Sql) => Sql>> = {
  // 1 January 1970 was a Thursday, the fourth day of its week.
  weekday: (local) => sql`toString(positiveModulo(intDiv(${local}, 86400) + 3, 7) + 1)`,
  hour: (local) => sql`leftPad(toString(positiveModulo(intDiv(${local}, 3600), 24)), 2, '0')`,
}

/**
 * Writes the key of a group: the day of the week, `1` for Monday to `7`, or the hour, `00` to `23`. The rules of zones are those of the
 * runtime: the statement knows the moments within the period at which the clock is changed.
 *
 * @param at a moment of the period
 */
export function writeClock(
  { part, zone }: Pick<ClockGrouping, 'part' | 'zone'>,
  period: Period,
  at: Sql,
): Sql {
  const seconds = sql`intDiv(toUnixTimestamp64Milli(${at}), 1000)`
  const { earliestTimestamp, endOfTimestamps } = EVENT_LIMITS
  const start = Math.max(period.start.getTime(), earliestTimestamp.getTime())
  const end = Math.min(period.end.getTime(), endOfTimestamps.getTime())
  const starts = [start, ...listChangesWithin(zone, start, end)]
  const offsets = starts.map((moment) => getOffset(zone, moment) / SECOND_MS)
  const [first = 0] = offsets
  if (offsets.length === 1) return KEYS[part](sql`(${seconds} + ${int64(first)})`)
  const moments = int64s(starts.map((moment) => Math.floor(moment / SECOND_MS)))
  const offset = sql`transform(roundDown(${seconds}, ${moments}), ${moments}, ${int64s(offsets)})`
  return KEYS[part](sql`(${seconds} + ${offset})`)
}

/** The changes of zones by year: to find those of a year takes about a millisecond, and a period may have a hundred years. */
const remembered = new LRUCache<string, readonly number[]>({ max: 5_000 })

/** Lists the moments within a period at which the clock of a zone is changed. */
function listChangesWithin(zone: string, start: number, end: number): readonly number[] {
  if (isUtc(zone)) return []
  const [first, last] = [start, end].map((moment) => new Date(moment).getUTCFullYear())
  if (first === undefined || last === undefined) return []
  const years = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  return years
    .flatMap((year) => listChangesOfYear(zone, year))
    .filter((moment) => moment > start && moment < end)
}

function listChangesOfYear(zone: string, year: number): readonly number[] {
  const name = `${zone} ${year}`
  const known = remembered.get(name)
  if (known !== undefined) return known
  const changes = listChanges(zone, Date.UTC(year, 0), Date.UTC(year + 1, 0))
  remembered.set(name, changes)
  return changes
}
