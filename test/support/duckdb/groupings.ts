/** The groupings of a request: the keys of rows, events and visits. All keys are texts. */
import type { GroupBy } from '../../../src/contract/api.js'
import { listZoneBuckets, type BucketSize } from '../world/zones.js'
import type { DuckPeriod } from './period.js'
import type { VisitGroups } from './metrics.js'
import { join, raw, sql, type Sql } from './sql.js'

export interface Grouping {
  /** The member of `group` in a row of the response. */
  readonly member: string
  /** The group of a row of `events`; null if it is in none. */
  readonly event: Sql
  /** The group of a row of `visits`; null if it is in none. */
  readonly visit: Sql
  /** Whether the first event of the user of an event is in the same bucket. Absent if there are no buckets. */
  readonly isNew?: Sql
  /** How its visits are grouped. */
  readonly visitGroups: VisitGroups
  /** Selects groups that are rows although they may have no event, as `key`. Absent: groups with an event are rows. */
  readonly keys?: Sql
}

type Keys = Pick<Grouping, 'event' | 'visit' | 'visitGroups'>

const NO_VISIT = sql`CAST(NULL AS VARCHAR)`
const groupByAttribute = (name: string): Keys => ({
  event: raw(name),
  visit: raw(name),
  visitGroups: 'same',
})
const groupByPage = (part: 'origin' | 'path'): Keys => ({
  event: sql`nullif(${raw(part)}, '')`,
  visit: sql`nullif(${raw(`entry_${part}`)}, '')`,
  visitGroups: 'entry',
})

const groupByVisitPage = (column: string): Keys => ({
  event: sql`nullif(${raw(column)}, '')`,
  visit: sql`nullif(${raw(column)}, '')`,
  visitGroups: 'same',
})

/** The dimensions that are no session attribute with a column of that name. */
const DIMENSIONS: Readonly<Partial<Record<string, Keys>>> = {
  'page:origin': groupByPage('origin'),
  'page:path': groupByPage('path'),
  'page:entry': groupByVisitPage('page_entry'),
  'page:exit': groupByVisitPage('page_exit'),
  'event:name': { event: sql`nullif(name, 'pageview')`, visit: NO_VISIT, visitGroups: 'none' },
}

const PROPERTY = 'event:prop:'

const INTERVAL = 'interval:'

export const isInterval = (token: string | undefined): boolean =>
  token?.startsWith(INTERVAL) === true

/** The size of the buckets that an interval means. */
export const findBucketSize = (token: string, { bucket }: DuckPeriod): string =>
  token === 'interval:auto' ? bucket : token.slice(INTERVAL.length)

/** Groups by the buckets of a zone. They are listed, and a moment belongs to the last one that has begun. */
function groupByZoneBucket({ from, to }: DuckPeriod, bucket: string, zone: string): Grouping {
  const buckets = listZoneBuckets(
    zone,
    bucket as BucketSize,
    Date.parse(from),
    Date.parse(to) + 1_000,
  )
  const rows = buckets.map(
    ({ from: start, label }) => sql`(CAST(${String(start)} AS BIGINT), ${label})`,
  )
  const list = sql`(VALUES ${join(rows)}) AS buckets(start, label)`
  const find = (moment: Sql): Sql =>
    sql`(SELECT max_by(label, start) FROM ${list} WHERE start <= epoch_ms(${moment}))`
  return {
    member: 'date',
    event: find(sql`occurred`),
    visit: find(sql`start_at`),
    visitGroups: 'same',
    isNew: sql`${find(sql`first_occurred`)} = ${find(sql`occurred`)}`,
    keys: sql`SELECT label AS key FROM ${list}`,
  }
}

function groupByBucket({ from, to }: DuckPeriod, bucket: string): Grouping {
  const step = sql`CAST(${bucket === '15minutes' ? '15 minute' : `1 ${bucket}`} AS INTERVAL)`
  const truncate = (moment: Sql): Sql =>
    bucket === '15minutes'
      ? sql`time_bucket(${step}, ${moment})`
      : sql`date_trunc(${bucket}, ${moment})`
  const label = (moment: Sql): Sql => sql`strftime(${truncate(moment)}, '%Y-%m-%dT%H:%M:%SZ')`
  const start = truncate(sql`CAST(${from} AS TIMESTAMP)`)
  return {
    member: 'date',
    event: label(sql`occurred`),
    visit: label(sql`start_at`),
    visitGroups: 'same',
    isNew: sql`${label(sql`first_occurred`)} = ${label(sql`occurred`)}`,
    keys: sql`SELECT ${label(sql`start`)} AS key FROM generate_series(${start}, CAST(${to} AS TIMESTAMP), ${step}) AS buckets(start)`,
  }
}

/** Groups by what the clock of a zone shows. */
function groupByClock(token: 'weekday' | 'hour', { zone = 'UTC' }: DuckPeriod): Grouping {
  const format = token === 'weekday' ? '%u' : '%H'
  const show = (moment: Sql): Sql =>
    sql`strftime((${moment} AT TIME ZONE 'UTC') AT TIME ZONE ${zone}, ${format})`
  return {
    member: token,
    event: show(sql`occurred`),
    visit: show(sql`start_at`),
    visitGroups: 'same',
  }
}

/** Finds the grouping that a token names. */
export function findGrouping(token: GroupBy, period: DuckPeriod): Grouping {
  if (isInterval(token)) {
    const size = findBucketSize(token, period)
    const { zone } = period
    return zone === undefined ? groupByBucket(period, size) : groupByZoneBucket(period, size, zone)
  }
  if (token === 'weekday' || token === 'hour') return groupByClock(token, period)
  if (!token.startsWith(PROPERTY)) {
    return { member: token, ...(DIMENSIONS[token] ?? groupByAttribute(token)) }
  }
  const name = token.slice(PROPERTY.length)
  return {
    member: token,
    event: sql`(SELECT value FROM properties WHERE properties.arrival = matching.arrival AND properties.name = ${name})`,
    visit: NO_VISIT,
    visitGroups: 'none',
  }
}
