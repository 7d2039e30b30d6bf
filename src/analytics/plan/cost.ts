/**
 * Estimates how much CPU time a plan takes, from the work that it does and what each unit of work costs.
 *
 * Across shards it is the CPU time of all of them together, and not the time until the response: every shard works on every query of
 * such a project, so CPU time decides how many queries it can answer. A plan that takes less of it is hardly ever later: the
 * shards work side by side and are about as large, and each further step costs CPU time on all of them, too.
 */
import { buildRecord } from '../../lib/records.js'
import { DIMENSIONS, isDimensionName } from '../../model/dimensions.js'
import { findPair } from '../../model/pairs.js'
import type { ProjectSizes } from '../../model/project-sizes.js'
import { RELATIONS } from '../../model/relations.js'
import { TOTAL } from '../../model/rollups.js'
import type { Query } from '../request/query.js'
import { listTerms, listVisits } from './coverage.js'
import {
  countColumns,
  countColumnsOf,
  countDates,
  countGroups,
  countPairRows,
  countRollupRows,
  countValues,
  estimateFacts,
  estimateMatchingShare,
  estimateShare,
  getValues,
} from './estimates.js'
import { type ConsideredWay, listJoinedPlans, type Plan, type Scan } from './plan.js'

/**
 * What each unit of work costs, in microseconds of CPU time. `npm run -s bench:plans` measures plans and fits these costs to
 * them, as it did on 2026-11-22 with 20 million events on 2 × AMD EPYC. Only their proportions matter. `npm run -s
 * bench:cluster-plans` does the same for the work of the shard that asks others: on 2026-11-23, with 500,000 events across 2 and
 * across 4 embedded engines on the same machine.
 */
export const UNIT_COSTS: Readonly<Record<Unit, number>> = {
  /** A statement: what is the same in all. */
  statement: 1_700,
  /** A SELECT from a table: analysing it, and starting to read. */
  select: 5_000,
  /** A partition of a table from which a SELECT reads. */
  partition: 580,
  /** Counting users in a second step. */
  secondStep: 4_200,
  /** A row of a rollup that holds sums. */
  sumRow: 0.1,
  /** A row of a rollup that holds users, as a bitmap. */
  bitmap: 0.43,
  /** A user in such a bitmap. */
  bitmapUser: 0.0059,
  /** A column of an event that is read. */
  eventColumn: 0.0074,
  /** An event whose user is counted; more if there are many groups. */
  eventUser: 0.0058,
  /** A column of a session that is read. */
  sessionColumn: 0.016,
  /** A statement across shards: what the shard that asks does for it, whatever the statement reads. */
  wideStatement: 1_600,
  /** A SELECT of such a statement: the shard that asks analyses it twice. */
  wideSelect: 4_400,
  /** A shard that is asked by a step of such a statement. */
  askedShard: 1_800,
  /** A group that one of these shards returns. */
  shardGroup: 0.33,
}

/** Estimated milliseconds of CPU time, as in `ConsideredWay`. */
export type Cost = Pick<ConsideredWay, 'ms' | 'askingMs'>

/**
 * Estimates how many milliseconds of CPU time a plan takes, on all shards together.
 *
 * @param sizes those of one shard
 * @param width the number of shards
 */
export function estimateCost(plan: Plan, sizes: ProjectSizes, width = 1): Cost {
  if (width === 1) return { ms: addCosts(estimateWork(plan, sizes), UNIT_COSTS) }
  const { shards, asking } = estimateWideWork(plan, sizes, width)
  const askingMs = addCosts(asking, UNIT_COSTS)
  return { ms: addCosts(shards, UNIT_COSTS) + askingMs, askingMs }
}

/** The work of a plan on all its shards. */
export interface WideWork {
  /** What all shards do together for their groups. */
  readonly shards: Work
  /** What the shard that asks does besides: it analyses the statements, and adds up the groups. */
  readonly asking: Work
}

/**
 * Estimates the work of a plan across shards. The shards are asked once for each step of it.
 *
 * @param sizes those of one shard
 * @param width the number of shards
 */
export function estimateWideWork(plan: Plan, sizes: ProjectSizes, width: number): WideWork {
  const work = estimateWork(plan, sizes)
  const groups = countGroups(plan.query, sizes)
  const steps = [groups, ...listCountingSteps(plan).map(({ keys }) => Math.min(keys, groups))]
  const shard = { ...work, statement: steps.length }
  return {
    shards: buildRecord(UNITS, (unit) => width * shard[unit]),
    asking: {
      ...buildRecord(UNITS, () => 0),
      wideStatement: 1,
      wideSelect: work.select,
      askedShard: width * steps.length,
      shardGroup: width * steps.reduce((sum, count) => sum + count, 0),
    },
  }
}

/** Adds up the milliseconds of CPU time that some work takes. @param costs microseconds */
export const addCosts = (work: Work, costs: Readonly<Record<Unit, number>>): number =>
  UNITS.reduce((sum, unit) => sum + work[unit] * costs[unit], 0) / 1_000

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
  addJoinedPlans(work, plan, sizes)
  for (const { scans, keys } of listCountingSteps(plan)) {
    work.secondStep += 1
    for (const scan of scans) addScan(work, scan, plan, sizes, keys)
  }
  return work
}

/** Adds the scans that count new users and conversions, each in a step of their own. */
function addJoinedPlans(work: Sum, plan: Plan, sizes: ProjectSizes): void {
  for (const part of listJoinedPlans(plan)) {
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
  // Most projects have one currency.
  if (scan.isForCurrencies === true) {
    work.select += 1
    return
  }
  addVisits(work, plan.query, sizes)
  const facts = estimateFacts(sizes, scan.periods)
  const columns = countColumns(plan.query, scan.measures)
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
  { relation, periods, measures, dimension, readsNumbers }: RollupScan,
  plan: Plan,
  sizes: ProjectSizes,
  keys: number | undefined,
): void {
  const { events, visits, months } = estimateFacts(sizes, periods)
  const isDaily = RELATIONS[relation].grain === 'day'
  work.partition += isDaily ? months : Math.ceil(months / MONTHS_OF_YEAR)
  const dates = countDates(relation, periods, sizes)
  const pair = findPair(dimension)
  const rows =
    pair === undefined
      ? countRollupRows(relation, dimension, periods, sizes)
      : countPairRows(plan.query, pair, relation, periods, sizes)
  if (readsNumbers === true) work.sumRow += rows * SUM_ROWS_OF_NUMBER
  if (!measures.includes('users')) {
    work.sumRow += keys === undefined ? rows : Math.min(rows, keys * Math.max(dates, SUM_GRANULE))
    return
  }
  const matching = estimateMatchingShare(plan.query)
  const most = keys === undefined ? rows : keys * Math.max(dates, BITMAP_GRANULE)
  work.bitmap += Math.min(pair === undefined ? rows * matching : rows, most)
  // The keys of a pair may be values of only one of its dimensions.
  const values = pair === undefined ? getValues(dimension, sizes) : countValues(plan.query, sizes)
  const users = ((isOfVisits(dimension) ? visits : events) * values) / (values + HALF_SPARSE)
  const sparse = pair === undefined ? 1 : SPARSE_PAIRS
  work.bitmapUser += sparse * users * matching * estimateShare(values, keys)
}

/** How many further rows of sums cost as much as to add up the rows of a value, and to read it as a number. Measured with 8 million events. */
const SUM_ROWS_OF_NUMBER = 2

/** Dense bitmaps cost little. With this many values, the bitmaps of a dimension are half as sparse as with many. */
const HALF_SPARSE = 50

/** How many times as much a user of a pair costs: there are many small bitmaps. Measured with 8 million events. */
const SPARSE_PAIRS = 3

/** Whether a visit is in one group. It may be in many groups of pages and events. */
function isOfVisits(dimension: string): boolean {
  const of = findPair(dimension)?.of ?? dimension
  return of === TOTAL || (isDimensionName(of) && DIMENSIONS[of].sessionColumn !== undefined)
}

const MONTHS_OF_YEAR = 12

/** A step of a plan: what it reads, and of how many groups. */
export interface Step {
  readonly scans: readonly Scan[]
  readonly keys: number
}

/** How many groups are counted for each row up to the end of the page, if it is ordered by users: measured on log-uniform data. */
const CANDIDATES_PER_ROW = 2.5

/** Lists the steps of a plan that count the users of some groups only. */
function listCountingSteps({ userCounting, query: { limit, offset } }: Plan): readonly Step[] {
  if (userCounting.kind === 'all') return []
  const { kind, scans } = userCounting
  if (kind === 'page') return [{ scans, keys: limit }]
  // The groups with the most events are counted first, then the others. Together they are as many as estimated here.
  return [(limit + offset) * CANDIDATES_PER_ROW, 0].map((keys) => ({ scans, keys }))
}
