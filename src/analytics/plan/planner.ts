/** Chooses which relations answer a query, and says why. */
import { align } from './split-period.js'
import { isOfEntries, isOfSessions, rollupKeyOf, whyNot, type RollupKey } from './coverage.js'
import { DIMENSIONS } from '../../model/dimensions.js'
import { METRICS } from '../../model/metrics.js'
import type { Measure } from '../../model/measures.js'
import { ALL_RELATIONS, RELATIONS, type RelationName } from '../../model/relations.js'
import type { Period } from '../request/period.js'
import type { Query } from '../request/query.js'

/** One pass over one relation, giving some measures of every group. */
export interface Scan {
  readonly relation: RelationName
  /** Empty where the scan is there for its groups alone. */
  readonly measures: readonly Measure[]
  /** Whether its groups make rows of the answer. */
  readonly makesGroups: boolean
  /** What is read of the period, in whole months or days where the relation has no less. */
  readonly periods: readonly Period[]
  /**
   * How the predicate is put to the relation: to its own columns; to the page that visits entered on; to
   * the value that a rollup counts by; or by way of the events of each session.
   */
  readonly filteredBy: 'columns' | 'entry' | 'value' | 'events'
  /** Of a rollup: the `dimension` of the rows that are read. */
  readonly dimension?: string
}

/** A relation that could have been cheaper, and why it is not read. */
export interface PassedOver {
  readonly relation: RelationName
  readonly measures: readonly Measure[]
  readonly why: string
}

export interface Plan {
  readonly query: Query
  readonly scans: readonly Scan[]
  readonly passedOver: readonly PassedOver[]
  /**
   * Where rows come from. `events`: a group is there when an event of the period matches, whichever
   * metrics are asked for. `buckets`: every bucket of the period. `one`: a single row, always.
   */
  readonly rows: 'one' | 'events' | 'buckets'
  /**
   * Of which groups users are counted. `all`: of each. `page`: of those on the page asked for, which
   * other metrics tell. `bounded`: of those that have enough events to get onto the page by their users.
   */
  readonly usersOf: 'all' | 'page' | 'bounded'
}

const ROWS = { none: 'one', dimension: 'events', property: 'events', interval: 'buckets' } as const

/**
 * The plan of a query; it is a value, and nothing is read to make it.
 *
 * @param relations what may be read, the cheapest first; all facts must be among them
 */
export function planQuery(query: Query, relations: readonly RelationName[] = ALL_RELATIONS): Plan {
  const rows = ROWS[query.grouping.kind]
  const key = rollupKeyOf(query)
  const asked = [...new Set(query.metrics.flatMap((metric) => METRICS[metric].measures))].filter(
    (measure) => groupsSessions(query) || measure in RELATIONS.events.measures,
  )
  const groups = partsOf('pageviews', query, key, relations)
  const usersOf = usersToCount(query, asked, groups)
  // Which users to count is told by how many events there are.
  const measures =
    usersOf === 'bounded' ? [...new Set([...asked, 'pageviews', 'events'] as const)] : asked

  const parts = measures.map((measure) => partsOf(measure, query, key, relations))
  // Groups are there by their events, also where no event is asked for.
  if (rows === 'events') parts.push({ ...groups, measure: undefined })
  return {
    query,
    scans: relations.flatMap((relation) => scansOf(relation, parts, query, key)),
    passedOver: relations.flatMap((relation) => passedOver(relation, parts)),
    rows,
    usersOf,
  }
}

/** How the period of one measure is divided among relations. */
interface Parts {
  /** Absent where only the groups matter. */
  readonly measure: Measure | undefined
  readonly periods: ReadonlyMap<RelationName, readonly Period[]>
  readonly refused: ReadonlyMap<RelationName, string>
}

/** Each relation, the cheapest first, answers for the whole of what it can; facts for all that is left. */
function partsOf(
  measure: Measure,
  query: Query,
  key: RollupKey | string,
  relations: readonly RelationName[],
): Parts {
  const periods = new Map<RelationName, readonly Period[]>()
  const refused = new Map<RelationName, string>()
  let rest: readonly Period[] = [query.period]
  for (const name of relations) {
    const { grain, measures } = RELATIONS[name]
    if (measures[measure] === undefined || rest.length === 0) continue
    const reason = whyNot(name, measure, query, key)
    const { inside, outside } = align(rest, grain)
    if (reason !== undefined) refused.set(name, reason)
    else if (inside.length === 0) refused.set(name, `the period has no whole ${grain} for it`)
    else {
      periods.set(name, inside)
      rest = outside
    }
  }
  return { measure, periods, refused }
}

/** The scan of a relation, for all measures that read it; measures may read different parts of facts. */
function scansOf(
  relation: RelationName,
  parts: readonly Parts[],
  query: Query,
  key: RollupKey | string,
): Scan[] {
  const scans = new Map<string, { periods: readonly Period[]; needs: (Measure | undefined)[] }>()
  for (const { measure, periods: all } of parts) {
    const periods = all.get(relation)
    if (periods === undefined) continue
    const scan = scans.get(JSON.stringify(periods)) ?? { periods, needs: [] }
    scans.set(JSON.stringify(periods), scan)
    scan.needs.push(measure)
  }
  return [...scans.values()].map(({ periods, needs }) => ({
    relation,
    measures: needs.filter((need) => need !== undefined),
    makesGroups: needs.includes(undefined),
    periods,
    filteredBy: filteredBy(relation, query),
    ...(isRollup(relation) && typeof key === 'object' ? { dimension: key.dimension } : {}),
  }))
}

function filteredBy(relation: RelationName, query: Query): Scan['filteredBy'] {
  if (isRollup(relation)) return 'value'
  if (relation === 'events' || isOfSessions(query.predicate)) return 'columns'
  return isOfEntries(query) ? 'entry' : 'events'
}

const isRollup = (name: RelationName): boolean => RELATIONS[name].rollup !== undefined

function passedOver(relation: RelationName, parts: readonly Parts[]): PassedOver[] {
  const reasons = new Map<string, Measure[]>()
  for (const { measure, refused } of parts) {
    const why = refused.get(relation)
    if (why === undefined) continue
    reasons.set(why, [...(reasons.get(why) ?? []), ...(measure === undefined ? [] : [measure])])
  }
  return [...reasons].map(([why, measures]) => ({ relation, measures, why }))
}

/** More than the edges of whole days: read several times, facts cost more than users last would save. */
const MANY_FACTS_MS = 2 * 86_400_000

/** Down to here the statement keeps a list of what was counted first. */
const FARTHEST_REACH = 2_000

/** Users are counted last where rollups tell the rest, and that may spare most groups. */
function usersToCount(
  { grouping, order, limit, offset }: Query,
  measures: readonly Measure[],
  groups: Parts,
): Plan['usersOf'] {
  const facts = (groups.periods.get('events') ?? []).reduce(
    (length, { start, end }) => length + (end.getTime() - start.getTime()),
    0,
  )
  const fromRollups = [...groups.periods.keys()].some((name) => isRollup(name))
  if (!fromRollups || facts > MANY_FACTS_MS || !measures.includes('users')) return 'all'
  const isWide =
    grouping.kind === 'property' ||
    (grouping.kind === 'dimension' && DIMENSIONS[grouping.dimension].highCardinality === true)
  if (!isWide) return 'all'
  if (order.by !== 'users') return 'page'
  return order.direction === 'desc' && limit + offset <= FARTHEST_REACH ? 'bounded' : 'all'
}

/** Whether visits can be told apart by the grouping; elsewhere their metrics are null. */
function groupsSessions({ grouping }: Query): boolean {
  switch (grouping.kind) {
    case 'none':
    case 'interval':
      return true
    case 'property':
      return false
    case 'dimension': {
      const { sessionColumn, entryColumn } = DIMENSIONS[grouping.dimension]
      return sessionColumn !== undefined || entryColumn !== undefined
    }
    default:
      return grouping satisfies never
  }
}
