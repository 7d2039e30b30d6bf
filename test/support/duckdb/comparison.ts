/** The period that a request is compared with, and the change of metrics from there. */
import type { AnalyticsQueryRequest, Metric, Preset, Row } from '../../../src/contract/api.js'
import { findInstant, readClock } from '../world/zones.js'
import type { DuckDatabase } from './database.js'
import type { DuckPeriod } from './period.js'
import { sql } from './sql.js'

const QUARTER = 900_000
const DAY = 86_400_000

/** How far presets are moved back to the period before. `all` is moved by its length. */
const LENGTHS: Readonly<Record<Exclude<Preset, 'all'>, string>> = {
  live: '5 MINUTE',
  '1hr': '1 HOUR',
  '24hrs': '24 HOUR',
  today: '1 DAY',
  yesterday: '1 DAY',
  '7days': '7 DAY',
  '28days': '28 DAY',
  this_week: '7 DAY',
  last_week: '7 DAY',
  last_month: '1 MONTH',
  last_quarter: '3 MONTH',
  last_year: '1 YEAR',
  '30days': '30 DAY',
  '90days': '90 DAY',
  '3months': '3 MONTH',
  '6months': '6 MONTH',
  '12months': '12 MONTH',
  '1year': '12 MONTH',
  mtd: '1 MONTH',
  ytd: '1 YEAR',
}

/** Whether time passes by the clock of UTC, whatever the clock of the zone does. */
const isElapsed = (interval: string): boolean => /SECOND|MINUTE|HOUR/.test(interval)

function findInterval({ compare, date_range: range }: AnalyticsQueryRequest, length: number) {
  if (compare === 'previous_year') return '1 YEAR'
  if (typeof range === 'string') return range === 'all' ? `${length} SECOND` : LENGTHS[range]
  if ('last' in range) return `${range.last} ${range.unit}`
  const isDates = range.every((end) => !end.includes('T'))
  if (!isDates) return `${length} SECOND`
  return `${(Date.parse(range[1]) - Date.parse(range[0])) / DAY + 1} DAY`
}

/** What a clock of UTC shows, and that of a zone. */
interface Clocks {
  readonly show: (at: number) => number
  readonly find: (shown: number) => number
}

const createClocks = (zone: string | undefined): Clocks => ({
  show: (at) => (zone === undefined ? at : readClock(zone, at)),
  find: (shown) => {
    if (zone === undefined) return shown
    // Clocks are changed at quarters of an hour.
    const quarter = Math.floor(shown / QUARTER) * QUARTER
    const found = findInstant(zone, quarter)
    return readClock(zone, found) > quarter ? found : found + shown - quarter
  },
})

/** Resolves the range of the other period, in seconds of UTC. */
export async function resolveCompared(
  database: DuckDatabase,
  request: AnalyticsQueryRequest,
  { from, to, zone }: DuckPeriod,
): Promise<readonly [string, string]> {
  const clocks = createClocks(zone)
  const [start, end] = [Date.parse(from), Date.parse(to) + 1_000]
  const shift = async (at: number, interval: string): Promise<number> => {
    const [row] = await database.run<{ readonly moved: string }>(
      sql`SELECT strftime(CAST(${new Date(at).toISOString()} AS TIMESTAMP) - CAST(${interval} AS INTERVAL), '%Y-%m-%dT%H:%M:%SZ') AS moved`,
    )
    return Date.parse(row!.moved)
  }
  const length = (end - start) / 1_000
  const interval = await align(request, findInterval(request, length), clocks.show(start), shift)
  const first = isElapsed(interval)
    ? await shift(start, interval)
    : clocks.find(await shift(clocks.show(start), interval))
  const next = async (): Promise<number> => {
    const last = clocks.show(end - 1_000)
    const [startsDay, endsDay] = [isStartOfDay(start, clocks), isStartOfDay(end, clocks)]
    if (isElapsed(interval) || (!startsDay && !endsDay)) return first + end - start
    if (!endsDay) return clocks.find(await shift(last, interval)) + 1_000
    return clocks.find((await shift(Math.floor(last / DAY) * DAY, interval)) + DAY)
  }
  const { compare, compare_align, date_range: range } = request
  const isClosed = typeof range === 'string' && range.startsWith('last_')
  if (isClosed && compare === 'previous_period' && compare_align === undefined) {
    return [show(first), show(start - 1_000)]
  }
  return [show(first), show((await next()) - 1_000)]
}

const show = (at: number): string => new Date(at).toISOString().replace('.000', '')

/** Makes whole weeks of an interval, where the same weekdays are to be compared. */
async function align(
  { compare, compare_align: alignment }: AnalyticsQueryRequest,
  interval: string,
  shown: number,
  shift: (at: number, interval: string) => Promise<number>,
): Promise<string> {
  if (alignment === undefined) return interval
  if (compare === 'previous_year') return '364 DAY'
  const days = (shown - (await shift(shown, interval))) / DAY
  return `${7 * Math.ceil(days / 7)} DAY`
}

const isStartOfDay = (at: number, { show, find }: Clocks): boolean =>
  find(Math.floor(show(at) / DAY) * DAY) === at

/** Compares two rows. */
export function compareMetrics(
  metrics: Row['metrics'],
  others: Readonly<Record<string, number | null>>,
): NonNullable<Row['comparison']> {
  const change = Object.keys(metrics).map((name) => {
    const [value, base] = [metrics[name as Metric] ?? null, others[name] ?? null]
    return [name, computeChange(name, value, base)]
  })
  return { metrics: others, change: Object.fromEntries(change) as Record<string, number | null> }
}

/** A number has at most nine decimals. */
const countBillionths = (value: number): bigint => BigInt(value.toFixed(9).replace('.', ''))

/** Computes with billionths, as integers. Halves are rounded away from 0. */
function computeChange(name: string, value: number | null, base: number | null): number | null {
  if (value === null || base === null) return null
  const [now, other] = [value, base].map(countBillionths) as [bigint, bigint]
  if (/^(bounce_rate|conversion_rate)/.test(name)) return Number(now - other) / 1e9
  if (other === 0n) return null
  const before = other < 0n ? -other : other
  const size = now < other ? other - now : now - other
  const rounded = Number((2n * size * 10_000n + before) / (2n * before)) / 100
  return now < other && rounded !== 0 ? -rounded : rounded
}
