/** Divides the period of a query among relations, and builds the scans of that division. */
import type { Measure } from '../../model/measures.js'
import { SECOND_MS } from '../../lib/time.js'
import { isRollup, RELATIONS, type Grain, type RelationName } from '../../model/relations.js'
import { arePeriodsEqual, type Period } from '../request/period.js'
import type { Query } from '../request/query.js'
import {
  canServe,
  matchesEntries,
  findRejectionReason,
  type Need,
  type RollupMatch,
} from './coverage.js'
import type { RejectedRelation, Scan } from './plan.js'
import type { Way } from './ways.js'
import { cutAt, joinAdjacent, splitByGrain } from './split-period.js'
import { matchesWholeSessions } from './terms.js'

/** The parts of the period that each relation answers for one need, and the reasons why other relations do not. */
export interface Division {
  readonly need: Need
  readonly periods: ReadonlyMap<RelationName, readonly Period[]>
  readonly rejections: ReadonlyMap<RelationName, string>
}

/**
 * Creates a function that divides the period for a need. Each relation takes every part that it can answer and that cheaper
 * relations left. Needs that the same relations can serve have the same division, which is computed once.
 */
export function createDivider(
  query: Query,
  match: RollupMatch,
  way: Pick<Way, 'relations' | 'avoided'>,
): (need: Need) => Division {
  const known = new Map<string, Division>()
  return (need) => {
    const relations = way.relations.filter((one) => canServe(one, need))
    const key = relations.join()
    const division = known.get(key) ?? dividePeriod(need, query, match, { ...way, relations })
    known.set(key, division)
    return { ...division, need }
  }
}

function dividePeriod(
  need: Need,
  query: Query,
  match: RollupMatch,
  { relations, avoided }: Pick<Way, 'relations' | 'avoided'>,
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
    else if (avoided.has(name))
      rejections.set(name, 'other relations are estimated to take less time')
    else {
      periods.set(name, inside)
      rest = outside
    }
  }
  return { need, periods, rejections }
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
  match: RollupMatch,
): readonly Scan[] {
  const reads: { readonly periods: readonly Period[]; readonly needs: Need[] }[] = []
  for (const division of divisions) {
    const { need } = division
    const periods = division.periods.get(relation)
    if (periods === undefined) continue
    const same = reads.find((read) => arePeriodsEqual(read.periods, periods))
    if (same === undefined) reads.push({ periods, needs: [need] })
    else same.needs.push(need)
  }
  return reads.map(({ periods, needs }) => ({
    relation,
    measures: needs.filter(isMeasure),
    makesGroups: needs.includes('groups'),
    periods,
    filteredBy: chooseFilter(relation, query),
    ...(isRollup(relation) && match.kind === 'covered' ? { dimension: match.key.dimension } : {}),
  }))
}

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
