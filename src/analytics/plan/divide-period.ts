/** Divides the period of a query among relations: whole months and days, and the rest. */
import { addDays, addMs, DAY_MS, SECOND_MS, startOfDay, startOfMonth } from '../../lib/time.js'
import { isOfNumbers, type Measure } from '../../model/measures.js'
import {
  type Grain,
  needsPairs,
  isRollup,
  type RelationName,
  RELATIONS,
} from '../../model/relations.js'
import { arePeriodsEqual, type Period } from '../request/period.js'
import type { Query } from '../request/query.js'
import {
  canServe,
  findKey,
  findRejectionReason,
  matchRollups,
  matchesEntries,
  matchesWholeSessions,
  type Need,
  type RollupMatch,
} from './coverage.js'
import type { RejectedRelation, Scan } from './plan.js'

/** Rounds a moment down to the start of its month or day. */
const ROUND_DOWN: Readonly<Record<Grain, (moment: Date) => Date>> = {
  month: (moment) => startOfMonth(moment),
  day: startOfDay,
  moment: (moment) => moment,
}

/** Added to the start of a month or day, this reaches into the next one. */
const NEXT_MS: Readonly<Record<Grain, number>> = { month: 32 * DAY_MS, day: DAY_MS, moment: 0 }

/** Rounds a moment up to the start of a month or day. */
function roundUp(moment: Date, grain: Grain): Date {
  const start = ROUND_DOWN[grain](moment)
  if (start.getTime() === moment.getTime()) return moment
  return ROUND_DOWN[grain](addMs(start, NEXT_MS[grain]))
}

export interface SplitPeriods {
  /** Whole months or days; the periods themselves for the grain `moment`. */
  readonly inside: readonly Period[]
  /** The rest, before and after those. */
  readonly outside: readonly Period[]
}

/** Splits periods that do not overlap into their whole months or days and the rest. */
export function splitByGrain(periods: readonly Period[], grain: Grain): SplitPeriods {
  const splits = periods.map(({ start, end }): SplitPeriods => {
    const whole = { start: roundUp(start, grain), end: ROUND_DOWN[grain](end) }
    if (isEmpty(whole)) return { inside: [], outside: [{ start, end }] }
    const edges = [
      { start, end: whole.start },
      { start: whole.end, end },
    ]
    return { inside: [whole], outside: edges.filter((edge) => !isEmpty(edge)) }
  })
  return {
    inside: splits.flatMap(({ inside }) => inside),
    outside: splits.flatMap(({ outside }) => outside),
  }
}

const isEmpty = ({ start, end }: Period): boolean => start >= end

/** Cuts periods at some moments. Both are in order. */
function cutAt(periods: readonly Period[], moments: readonly Date[]): readonly Period[] {
  if (moments.length === 0) return periods
  let next = 0
  return periods.flatMap(({ start, end }) => {
    const bounds = [start]
    for (; next < moments.length; next += 1) {
      const moment = moments[next]
      if (moment === undefined || moment >= end) break
      if (moment > start) bounds.push(moment)
    }
    return bounds.map((from, i) => ({ start: from, end: bounds[i + 1] ?? end }))
  })
}

/** Joins periods that touch: one ends where the next one starts. They are in order. */
function joinAdjacent(periods: readonly Period[]): readonly Period[] {
  const joined: Period[] = []
  for (const period of periods) {
    const last = joined.at(-1)
    if (last?.end.getTime() !== period.start.getTime()) joined.push(period)
    else joined.splice(-1, 1, { start: last.start, end: period.end })
  }
  return joined
}

/** A period. All of its days count, or only some. */
export interface Stretch {
  readonly period: Period
  /** The days that alone count, or those that do not. */
  readonly days?: { readonly count: boolean; readonly starts: readonly Date[] }
}

/**
 * Writes periods as one period with some of its days, if they are in order and only whole days lie between them. Where there are
 * many periods, ClickHouse finds the rows of a list of days in far less time than those of as many periods.
 */
export function condense(periods: readonly Period[]): readonly Stretch[] {
  const [first, ...others] = periods
  const last = others.at(-1)
  if (first === undefined || last === undefined) return periods.map((period) => ({ period }))
  const gaps = others.map(({ start }, i) => ({ start: (periods[i] ?? first).end, end: start }))
  if (splitByGrain(gaps, 'day').outside.length > 0) return periods.map((period) => ({ period }))
  const inside = periods.map(({ start, end }) => ({
    start: startOfDay(start),
    end: roundUp(end, 'day'),
  }))
  const count = countDays(inside) <= countDays(gaps)
  return [
    {
      period: { start: first.start, end: last.end },
      days: { count, starts: listDays(count ? inside : gaps) },
    },
  ]
}

/** Counts the days of periods; a part of a day counts as that part. */
export const countDays = (periods: readonly Period[]): number =>
  periods.reduce((sum, { start, end }) => sum + (end.getTime() - start.getTime()) / DAY_MS, 0)

const listDays = (days: readonly Period[]): readonly Date[] =>
  days.flatMap(({ start, end }) =>
    Array.from({ length: countDays([{ start, end }]) }, (_, i) => addDays(start, i)),
  )

/** The parts of the period that each relation answers for one need, and the reasons why other relations do not. */
export interface Division {
  readonly need: Need
  /** Whether rollups have the groups. */
  readonly match: RollupMatch
  readonly periods: ReadonlyMap<RelationName, readonly Period[]>
  readonly rejections: ReadonlyMap<RelationName, string>
}

/**
 * Creates a function that divides the period for a need. Each relation takes every part that it can answer and that cheaper
 * relations left. Needs that the same relations can serve have the same division, which is computed once.
 *
 * @param avoids the grains of rollups that are not read, because other relations may take less time
 */
export function createDivider(
  query: Query,
  relations: readonly RelationName[],
  avoids: readonly Grain[],
): (need: Need) => Division {
  const known = new Map<string, Division>()
  return (need) => {
    const match = matchRollups(query, need)
    const serving = relations.filter((one) => canServe(one, need) && mayHave(one, match))
    const key = JSON.stringify([match, serving])
    const division = known.get(key) ?? dividePeriod(need, query, match, serving, avoids)
    known.set(key, division)
    return { ...division, need }
  }
}

/** Whether a relation may have the rows of a query. A rollup of paired projects is considered only if it has them. */
const mayHave = (relation: RelationName, match: RollupMatch): boolean =>
  !needsPairs(relation) || findKey(relation, match) !== undefined

function dividePeriod(
  need: Need,
  query: Query,
  match: RollupMatch,
  relations: readonly RelationName[],
  avoids: readonly Grain[],
): Division {
  const periods = new Map<RelationName, readonly Period[]>()
  const rejections = new Map<RelationName, string>()
  let rest: readonly Period[] = [query.period]
  const starts = listCuts(query)
  for (const name of relations) {
    if (rest.length === 0) break
    const { grain } = RELATIONS[name]
    const reason = findRejectionReason(name, need, query, match)
    if (reason !== undefined) {
      rejections.set(name, reason)
      continue
    }
    // A row of a month or day must not count for two buckets; a row of a moment cannot.
    const parts = grain === 'moment' ? joinAdjacent(rest) : cutAt(rest, starts)
    const { inside, outside } = splitByGrain(parts, grain)
    if (inside.length === 0) rejections.set(name, describeRest(grain, starts))
    else if (isRollup(name) && avoids.includes(grain))
      rejections.set(name, 'other relations are estimated to take less time')
    else {
      periods.set(name, inside)
      rest = outside
    }
  }
  return { need, match, periods, rejections }
}

/** Lists the starts of the buckets of a zone, at which periods are cut; none for other queries. */
const listCuts = ({ grouping }: Query): readonly Date[] =>
  grouping.kind === 'interval'
    ? (grouping.zoned?.starts ?? []).map((start) => new Date(start * SECOND_MS))
    : []

const describeRest = (grain: Grain, starts: readonly Date[]): string =>
  starts.length === 0
    ? `the period has no whole ${grain} left for it`
    : `no bucket has a whole ${grain} left for it`

/** Builds the scans of a relation. One scan serves all needs that read the same parts of the period. */
export function buildScans(
  relation: RelationName,
  divisions: readonly Division[],
  query: Query,
): readonly Scan[] {
  const reads: (RowsOfNeeds & { readonly needs: Need[] })[] = []
  for (const division of divisions) {
    const { need } = division
    const rows = findRows(relation, division)
    if (rows === undefined) continue
    const same = reads.find((read) => areRowsSame(read, rows))
    if (same === undefined) reads.push({ ...rows, needs: [need] })
    else same.needs.push(need)
  }
  return reads.map(({ needs, ...rows }) => ({
    relation,
    measures: needs.filter(isMeasure),
    makesGroups: needs.includes('groups'),
    filteredBy: chooseFilter(relation, query),
    ...rows,
  }))
}

/** The rows of a relation that some needs read. */
type RowsOfNeeds = Pick<Scan, 'periods' | 'dimension' | 'readsNumbers'>

function findRows(
  relation: RelationName,
  { need, match, periods: ofRelations }: Division,
): RowsOfNeeds | undefined {
  const periods = ofRelations.get(relation)
  if (periods === undefined) return undefined
  const key = isRollup(relation) ? findKey(relation, match) : undefined
  if (key === undefined) return { periods }
  const readsNumbers = isMeasure(need) && isOfNumbers(need)
  return { periods, dimension: key.dimension, ...(readsNumbers ? { readsNumbers } : {}) }
}

const areRowsSame = (one: RowsOfNeeds, other: RowsOfNeeds): boolean =>
  one.dimension === other.dimension &&
  one.readsNumbers === other.readsNumbers &&
  arePeriodsEqual(one.periods, other.periods)

/** Lists the reasons why a relation is not read, each with the measures that it concerns. */
export function listRejections(
  relation: RelationName,
  divisions: readonly Division[],
): readonly RejectedRelation[] {
  const measuresByReason = new Map<string, readonly Measure[]>()
  for (const { need, rejections } of divisions) {
    const reason = rejections.get(relation)
    if (reason === undefined) continue
    const measures = measuresByReason.get(reason) ?? []
    measuresByReason.set(reason, isMeasure(need) ? [...measures, need] : measures)
  }
  return [...measuresByReason].map(([reason, measures]) => ({ relation, measures, reason }))
}

const isMeasure = (need: Need): need is Measure => need !== 'groups'

function chooseFilter(relation: RelationName, query: Query): Scan['filteredBy'] {
  if (isRollup(relation)) return 'value'
  if (relation === 'events' || matchesWholeSessions(query.predicate)) return 'columns'
  return matchesEntries(query) ? 'entry' : 'events'
}
