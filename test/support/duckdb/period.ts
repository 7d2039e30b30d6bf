/** Resolves date ranges to periods. */
import type { DateRange, Preset } from '../../../src/contract/api.js'
import { findInstant, readClock } from '../world/zones.js'
import type { DuckDatabase } from './database.js'
import { sql, type Sql } from './sql.js'

/** A period as texts: its first and last second, both included, and the size of the buckets that `interval:auto` means. */
export interface DuckPeriod {
  readonly from: string
  readonly to: string
  readonly bucket: 'hour' | 'day' | 'week' | 'month'
  /** Undefined for UTC. */
  readonly zone: string | undefined
}

/** What presets depend on. */
export interface Clock {
  readonly now: Date
  /** When the project was created. */
  readonly createdAt: Date
}

const TODAY = sql`date_trunc('day', shown)`
/** The current second, and what the clock of the zone shows then. */
const NOW = sql`date_trunc('second', now)`
const SHOWN = sql`date_trunc('second', shown)`

/** A bound of a period. `clock`: what the clock of the zone shows then; otherwise it is in UTC. */
interface Bound {
  readonly at: Sql
  readonly isLocal: boolean
}
const clock = (at: Sql): Bound => ({ at, isLocal: true })
const instant = (at: Sql): Bound => ({ at, isLocal: false })
const END = instant(sql`${NOW} + INTERVAL 1 SECOND`)

const closed = (unit: string, length: string): readonly [from: Bound, end: Bound] => [
  clock(sql`date_trunc(${unit}, shown) - CAST(${length} AS INTERVAL)`),
  clock(sql`date_trunc(${unit}, shown)`),
]

/** The first second of each preset, and the first after it. */
const PRESETS: Readonly<Record<Preset, readonly [from: Bound, end: Bound]>> = {
  today: [clock(TODAY), END],
  yesterday: [clock(sql`${TODAY} - INTERVAL 1 DAY`), clock(TODAY)],
  '7days': [clock(sql`${TODAY} - INTERVAL 6 DAY`), END],
  '30days': [clock(sql`${TODAY} - INTERVAL 29 DAY`), END],
  '28days': [clock(sql`${TODAY} - INTERVAL 27 DAY`), END],
  this_week: [clock(sql`date_trunc('week', shown)`), END],
  last_week: closed('week', '7 DAY'),
  last_month: closed('month', '1 MONTH'),
  last_quarter: closed('quarter', '3 MONTH'),
  last_year: closed('year', '1 YEAR'),
  '90days': [clock(sql`${TODAY} - INTERVAL 89 DAY`), END],
  '12months': [clock(sql`date_trunc('month', shown) - INTERVAL 11 MONTH`), END],
  live: [instant(sql`${NOW} - INTERVAL 299 SECOND`), END],
  '1hr': [instant(sql`${NOW} - INTERVAL 3599 SECOND`), END],
  // The clock may have been changed since, but not the minutes since the hour began.
  '24hrs': [instant(sql`${NOW} - (${SHOWN} - date_trunc('hour', shown)) - INTERVAL 23 HOUR`), END],
  '3months': [clock(sql`date_trunc('month', shown) - INTERVAL 2 MONTH`), END],
  '6months': [clock(sql`date_trunc('month', shown) - INTERVAL 5 MONTH`), END],
  '1year': [clock(sql`date_trunc('month', shown) - INTERVAL 11 MONTH`), END],
  mtd: [clock(sql`date_trunc('month', shown)`), END],
  ytd: [clock(sql`date_trunc('year', shown)`), END],
  all: [clock(sql`date_trunc('day', history)`), END],
}

/** Writes a second with an offset in UTC. */
const toUtc = (text: string): string =>
  isDate(text) ? text : new Date(text).toISOString().replace('.000', '')

const isDate = (text: string): boolean => text.length === 10

const resolveEnds = (range: DateRange): readonly [from: Bound, end: Bound] => {
  if (typeof range === 'string') return PRESETS[range]
  if ('last' in range) {
    const before = `${range.last - 1} ${range.unit}`
    return [clock(sql`date_trunc(${range.unit}, shown) - CAST(${before} AS INTERVAL)`), END]
  }
  const [from, to] = range.map(toUtc) as [string, string]
  const [first, last] = [sql`CAST(${from} AS TIMESTAMP)`, sql`CAST(${to} AS TIMESTAMP)`]
  return [
    { at: first, isLocal: isDate(from) },
    isDate(to) ? clock(sql`${last} + INTERVAL 1 DAY`) : instant(sql`${last} + INTERVAL 1 SECOND`),
  ]
}

const format = (moment: Sql): Sql => sql`strftime(${moment}, '%Y-%m-%dT%H:%M:%SZ')`

type Row = Readonly<Record<'start' | 'next', string>>

/** Turns what the clock of a zone shows into a moment. */
const toInstant = (text: string, isLocal: boolean, zone: string | undefined): string =>
  isLocal && zone !== undefined
    ? new Date(findInstant(zone, Date.parse(text))).toISOString().replace('.000', '')
    : text

export async function resolvePeriod(
  database: DuckDatabase,
  range: DateRange,
  { now, createdAt }: Clock,
  zone?: string,
): Promise<DuckPeriod> {
  const show = (at: Date): string =>
    new Date(zone === undefined ? at.getTime() : readClock(zone, at.getTime())).toISOString()
  const [from, end] = resolveEnds(range)
  const [events] = await database.run<{ readonly first: string | null }>(
    sql`SELECT ${format(sql`min(occurred)`)} AS first FROM events`,
  )
  const first = events?.first
  const history = first === null || first === undefined ? createdAt : new Date(first)
  const [bounds] = await database.run<Row>(sql`
WITH
  clock AS (
    SELECT
      CAST(${now.toISOString()} AS TIMESTAMP) AS now, CAST(${show(now)} AS TIMESTAMP) AS shown,
      CAST(${show(history)} AS TIMESTAMP) AS history)
SELECT ${format(from.at)} AS start, ${format(end.at)} AS next FROM clock`)
  const { start: shownStart, next: shownNext } = bounds!
  const start = toInstant(shownStart, from.isLocal, zone)
  const next = toInstant(shownNext, end.isLocal, zone)
  const [period] = await database.run<Readonly<Record<'from' | 'to' | 'bucket', string>>>(sql`
WITH ends AS (
  SELECT CAST(${start} AS TIMESTAMP) AS first, CAST(${next} AS TIMESTAMP) - INTERVAL 1 SECOND AS last)
SELECT
  ${format(sql`first`)} AS from, ${format(sql`last`)} AS to,
  CASE
    WHEN last - first <= INTERVAL 48 HOUR THEN 'hour'
    WHEN last - first <= INTERVAL 92 DAY THEN 'day'
    WHEN last - first <= INTERVAL 184 DAY THEN 'week'
    ELSE 'month' END AS bucket
FROM ends`)
  return { ...(period as Omit<DuckPeriod, 'zone'>), zone }
}
