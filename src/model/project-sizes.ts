/** How much data a project has. The planner estimates costs by it; the response of a query never depends on it. */
import { startOfMonth } from '../lib/time.js'
import { EVENT_LIMITS } from './event-fields.js'

/** What one month of a project holds. */
export interface MonthSize {
  /** The first moment of the month. */
  readonly month: Date
  /** Pageviews and other events. */
  readonly events: number
  readonly visits: number
}

/** The sizes of a project as they were read some time ago: they may be old, and are never exact. */
export interface ProjectSizes {
  /** When they were read. The month of this moment is not over. */
  readonly readAt: Date
  /** Each month at most once. A month without data may be missing. */
  readonly months: readonly MonthSize[]
  /** How many rows a month has in rollups, by their `dimension`: about the number of its values. */
  readonly values: ReadonlyMap<string, number>
}

/** How large a project is taken to be until its sizes are known: rather too large, because then a wrong guess costs little. */
const DEFAULT_MONTH = { events: 10_000_000, visits: 2_500_000 }

const { endOfTimestamps } = EVENT_LIMITS
/** Few projects have earlier events. Each month takes time whenever a query is planned. */
const FIRST_MONTH = new Date('2015-01-01')
const MONTHS = 12 * (endOfTimestamps.getUTCFullYear() - FIRST_MONTH.getUTCFullYear())

/** The sizes of a project until its own are known: every month from `FIRST_MONTH` on has as many events. */
export const DEFAULT_SIZES: ProjectSizes = {
  readAt: endOfTimestamps,
  months: Array.from({ length: MONTHS }, (_, i) => ({
    month: startOfMonth(FIRST_MONTH, i),
    ...DEFAULT_MONTH,
  })),
  values: new Map(),
}

/**
 * Returns the sizes of one shard of a project that lives across several: the mean of some of them. Senders are spread evenly, and
 * the work of all shards together follows from the mean.
 */
export function averageSizes([first, ...others]: readonly [
  ProjectSizes,
  ...ProjectSizes[],
]): ProjectSizes {
  if (others.length === 0) return first
  const all = [first, ...others]
  return {
    readAt: new Date(Math.min(...all.map(({ readAt }) => readAt.getTime()))),
    months: averageMonths(all),
    values: averageValues(all),
  }
}

/** A month that a shard does not have is empty there. */
function averageMonths(all: readonly ProjectSizes[]): readonly MonthSize[] {
  const months = new Map<number, MonthSize>()
  for (const { month, events, visits } of all.flatMap((sizes) => sizes.months)) {
    const known = months.get(month.getTime()) ?? { events: 0, visits: 0 }
    months.set(month.getTime(), {
      month,
      events: known.events + events / all.length,
      visits: known.visits + visits / all.length,
    })
  }
  return [...months.values()].sort((one, other) => one.month.getTime() - other.month.getTime())
}

/** A shard lists only the properties with the most values. */
function averageValues(all: readonly ProjectSizes[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number[]>()
  for (const [dimension, count] of all.flatMap(({ values }) => [...values])) {
    const known = counts.get(dimension)
    if (known === undefined) counts.set(dimension, [count])
    else known.push(count)
  }
  return new Map(
    [...counts].map(([dimension, known]) => [
      dimension,
      known.reduce((sum, count) => sum + count, 0) / known.length,
    ]),
  )
}
