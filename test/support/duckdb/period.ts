/** Resolves date ranges to periods. */
import type { DateRange, Preset } from '../../../src/contract/api.js'
import type { DuckDatabase } from './database.js'
import { sql, type Sql } from './sql.js'

/** A period as texts: its first and last second, both included, and the size of the buckets that `interval:auto` means. */
export interface DuckPeriod {
  readonly from: string
  readonly to: string
  readonly bucket: 'hour' | 'day' | 'week' | 'month'
}

/** What presets depend on. */
export interface Clock {
  readonly now: Date
  /** When the project was created. */
  readonly createdAt: Date
}

const TODAY = sql`date_trunc('day', now)`
/** The current second. */
const NOW = sql`date_trunc('second', now)`

/** The first and the last second of each preset. */
const PRESETS: Readonly<Record<Preset, readonly [from: Sql, to: Sql]>> = {
  today: [TODAY, NOW],
  yesterday: [sql`${TODAY} - INTERVAL 1 DAY`, sql`${TODAY} - INTERVAL 1 SECOND`],
  '7days': [sql`${TODAY} - INTERVAL 6 DAY`, NOW],
  '30days': [sql`${TODAY} - INTERVAL 29 DAY`, NOW],
  '90days': [sql`${TODAY} - INTERVAL 89 DAY`, NOW],
  '12months': [sql`date_trunc('month', now) - INTERVAL 11 MONTH`, NOW],
  live: [sql`${NOW} - INTERVAL 299 SECOND`, NOW],
  '1hr': [sql`${NOW} - INTERVAL 3599 SECOND`, NOW],
  '24hrs': [sql`date_trunc('hour', now) - INTERVAL 23 HOUR`, NOW],
  '3months': [sql`date_trunc('month', now) - INTERVAL 2 MONTH`, NOW],
  '6months': [sql`date_trunc('month', now) - INTERVAL 5 MONTH`, NOW],
  '1year': [sql`date_trunc('month', now) - INTERVAL 11 MONTH`, NOW],
  mtd: [sql`date_trunc('month', now)`, NOW],
  ytd: [sql`date_trunc('year', now)`, NOW],
  all: [sql`date_trunc('day', coalesce((SELECT min(occurred) FROM events), created_at))`, NOW],
}

/** An end that is a date means its last second. */
const lastSecond = (text: string): Sql =>
  text.length === 10
    ? sql`CAST(${text} AS TIMESTAMP) + INTERVAL 1 DAY - INTERVAL 1 SECOND`
    : sql`CAST(${text} AS TIMESTAMP)`

const resolveEnds = (range: DateRange): readonly [from: Sql, to: Sql] =>
  typeof range === 'string'
    ? PRESETS[range]
    : [sql`CAST(${range[0]} AS TIMESTAMP)`, lastSecond(range[1])]

const format = (moment: Sql): Sql => sql`strftime(${moment}, '%Y-%m-%dT%H:%M:%SZ')`

export async function resolvePeriod(
  database: DuckDatabase,
  range: DateRange,
  { now, createdAt }: Clock,
): Promise<DuckPeriod> {
  const [from, to] = resolveEnds(range)
  const [period] = await database.run<Readonly<Record<keyof DuckPeriod, string>>>(sql`
WITH
  clock AS (SELECT CAST(${now.toISOString()} AS TIMESTAMP) AS now, CAST(${createdAt.toISOString()} AS TIMESTAMP) AS created_at),
  ends AS (SELECT ${from} AS first, ${to} AS last FROM clock)
SELECT
  ${format(sql`first`)} AS from, ${format(sql`last`)} AS to,
  CASE
    WHEN last - first <= INTERVAL 48 HOUR THEN 'hour'
    WHEN last - first <= INTERVAL 92 DAY THEN 'day'
    WHEN last - first <= INTERVAL 184 DAY THEN 'week'
    ELSE 'month' END AS bucket
FROM ends`)
  return period as DuckPeriod
}
