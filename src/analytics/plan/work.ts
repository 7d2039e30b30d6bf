/** Estimates the work of a plan: how much is read and counted, in units that each cost about the same. */
import { buildRecord } from '../../lib/records.js'
import { DIMENSIONS, isDimensionName } from '../../model/dimensions.js'
import type { ProjectSizes } from '../../model/project-sizes.js'
import { RELATIONS } from '../../model/relations.js'
import { TOTAL } from '../../model/rollups.js'
import type { Query } from '../request/query.js'
import { listNewUserPlans, type Plan, type Scan } from './plan.js'
import {
  countColumns,
  countColumnsOf,
  countDates,
  countRollupRows,
  countValues,
  estimateMatchingShare,
  estimateShare,
  getValues,
} from './group-sizes.js'
import { estimateFacts } from './sizes.js'
import { listCountingSteps } from './steps.js'
import { listTerms, listVisits } from './terms.js'

/** The units of work; `UNIT_COSTS` says what each is. */
export const UNITS = [
  'statement',
  'select',
  'partition',
  'secondStep',
  'sumRow',
  'bitmap',
  'bitmapUser',
  'eventColumn',
  'eventUser',
  'sessionColumn',
  'wideStatement',
  'wideSelect',
  'askedShard',
  'shardGroup',
] as const

export type Unit = (typeof UNITS)[number]
export type Work = Readonly<Record<Unit, number>>
/** Work that is added up. */
type Sum = Record<Unit, number>

/** Facts are read in granules of 8,192 rows. In each partition, about two hold other projects as well. */
const OTHER_FACTS = 2 * 8_192

/** Rows of bitmaps are read in granules of this many. */
const BITMAP_GRANULE = 128
/** Rows of sums are read in granules of this many. */
const SUM_GRANULE = 8_192

/** Returns the work of a statement that reads nothing yet. */
const beginStatement = (): Sum => ({
  ...buildRecord(UNITS, () => 0),
  statement: 1,
})

/** Estimates the work of a plan on one shard. */
export function estimateWork(plan: Plan, sizes: ProjectSizes): Work {
  const work = beginStatement()
  for (const scan of plan.scans) addScan(work, scan, plan, sizes, plan.query.groupLimit)
  addNewUsers(work, plan, sizes)
  for (const { scans, keys } of listCountingSteps(plan)) {
    work.secondStep += 1
    for (const scan of scans) addScan(work, scan, plan, sizes, keys)
  }
  return work
}

/** Adds the scans that count new users, in a step of their own. */
function addNewUsers(work: Sum, plan: Plan, sizes: ProjectSizes): void {
  for (const part of listNewUserPlans(plan)) {
    work.secondStep += 1
    for (const scan of part.scans) addScan(work, scan, part, sizes, part.query.groupLimit)
  }
}

type RollupScan = Scan & { readonly dimension: string }
const isRollupScan = (scan: Scan): scan is RollupScan => scan.dimension !== undefined

/** @param keys how many groups are read; undefined: all */
function addScan(
  work: Sum,
  scan: Scan,
  plan: Plan,
  sizes: ProjectSizes,
  keys: number | undefined,
): void {
  work.select += 1
  if (isRollupScan(scan)) {
    addRollup(work, scan, plan, sizes, keys)
    return
  }
  addVisits(work, plan.query, sizes)
  const facts = estimateFacts(sizes, scan.periods)
  const columns = countColumns(plan.query)
  work.partition += facts.months
  if (scan.relation === 'sessions') {
    // The session's own columns: its start, end, counts and sign.
    work.sessionColumn += (facts.visits + facts.months * OTHER_FACTS) * (5 + columns)
    if (scan.filteredBy !== 'events') return
    work.select += 2
    const all = estimateFacts(sizes, [plan.query.period])
    work.partition += 2 * all.months
    work.eventColumn += (all.events + all.months * OTHER_FACTS) * (2 + columns)
    return
  }
  const isWhole = scan.relation === 'whole_sessions'
  const read = isWhole ? facts.visits : facts.events
  // Joining events to their sessions, for a column that only these have, costs no plan enough to be a unit of its own.
  // The time and the name of an event; or what costs as much of a session, which has more columns and is read by its day.
  const unit = isWhole ? 'sessionColumn' : 'eventColumn'
  work[unit] += (read + facts.months * OTHER_FACTS) * (2 + columns)
  // States that were replaced, sessions that cross an edge, and their events.
  if (isWhole) work.select += 3
  if (scan.measures.includes('users')) {
    const values = countValues(plan.query, sizes)
    const counted = read * estimateMatchingShare(plan.query) * estimateShare(values, keys)
    work.eventUser += counted * (1 + (keys ?? values) / DOUBLING_GROUPS)
  }
}

/** This many groups cost as much again as counting the users of one. */
const DOUBLING_GROUPS = 600

/** Adds what a scan of facts reads to find the sessions with an event that satisfies a predicate. */
function addVisits(work: Sum, { predicate, period }: Query, sizes: ProjectSizes): void {
  for (const visit of listVisits(predicate)) {
    const { events, months } = estimateFacts(sizes, [period])
    work.select += 3
    work.partition += 3 * months
    work.eventColumn += (events + months * OTHER_FACTS) * (2 + countColumnsOf(listTerms(visit)))
  }
}

function addRollup(
  work: Sum,
  { relation, periods, measures, dimension }: RollupScan,
  plan: Plan,
  sizes: ProjectSizes,
  keys: number | undefined,
): void {
  const { events, visits, months } = estimateFacts(sizes, periods)
  const isDaily = RELATIONS[relation].grain === 'day'
  work.partition += isDaily ? months : Math.ceil(months / MONTHS_OF_YEAR)
  const dates = countDates(relation, periods, sizes)
  const rows = countRollupRows(relation, dimension, periods, sizes)
  if (!measures.includes('users')) {
    work.sumRow += keys === undefined ? rows : Math.min(rows, keys * Math.max(dates, SUM_GRANULE))
    return
  }
  const matching = estimateMatchingShare(plan.query)
  const most = keys === undefined ? rows : keys * Math.max(dates, BITMAP_GRANULE)
  work.bitmap += Math.min(rows * matching, most)
  const values = getValues(dimension, sizes)
  const users = ((isOfVisits(dimension) ? visits : events) * values) / (values + HALF_SPARSE)
  work.bitmapUser += users * matching * estimateShare(values, keys)
}

/** Dense bitmaps cost little. With this many values, the bitmaps of a dimension are half as sparse as with many. */
const HALF_SPARSE = 50

/** Whether a visit is in one group. It may be in many groups of pages and events. */
const isOfVisits = (dimension: string): boolean =>
  dimension === TOTAL ||
  (isDimensionName(dimension) && DIMENSIONS[dimension].sessionColumn !== undefined)

const MONTHS_OF_YEAR = 12
