/** Chooses which relations answer a query, and says why. */
import { METRICS } from './model/metrics.js'
import { DIMENSIONS } from './model/dimensions.js'
import { RELATIONS, type Measure, type RelationName } from './model/relations.js'
import type { Predicate } from './predicate.js'
import type { Query } from './query.js'

/** One pass over one relation, giving some measures of every group. */
export interface Scan {
  readonly relation: RelationName
  /** Empty where the scan is there for its groups alone. */
  readonly measures: readonly Measure[]
  /**
   * How the predicate is put to the relation: to its own columns, or, where it lacks one, by way of
   * the events of each session.
   */
  readonly filteredBy: 'columns' | 'events'
  readonly why: string
}

export interface Plan {
  readonly query: Query
  readonly scans: readonly Scan[]
  /**
   * Where rows come from. `events`: a group is there when an event of the period matches, whichever
   * metrics are asked for. `buckets`: every bucket of the period. `one`: a single row, always.
   */
  readonly rows: 'one' | 'events' | 'buckets'
}

const ROWS = { none: 'one', dimension: 'events', property: 'events', interval: 'buckets' } as const

/** The plan of a query; it is a value, and nothing is read to make it. */
export function planQuery(query: Query): Plan {
  const rows = ROWS[query.grouping.kind]
  const measures = [...new Set(query.metrics.flatMap((metric) => METRICS[metric].measures))]
  const ofEvents = measures.filter((measure) => measure in RELATIONS.events.measures)
  const ofSessions = measures.filter((measure) => measure in RELATIONS.sessions.measures)

  const scans: Scan[] = []
  if (ofEvents.length > 0 || rows === 'events') {
    scans.push({
      relation: 'events',
      measures: ofEvents,
      filteredBy: 'columns',
      why: ofEvents.length > 0 ? 'users and counts of events' : 'the groups of matching events',
    })
  }
  if (ofSessions.length > 0 && groupsSessions(query)) {
    const filteredBy = coversSessions(query.predicate) ? 'columns' : 'events'
    scans.push({
      relation: 'sessions',
      measures: ofSessions,
      filteredBy,
      why:
        filteredBy === 'columns'
          ? 'visits, by session attributes'
          : 'visits, of which a filter looks at single events',
    })
  }
  return { query, scans, rows }
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
      const { session, entry } = DIMENSIONS[grouping.dimension]
      return session !== undefined || entry !== undefined
    }
    default:
      return grouping satisfies never
  }
}

/** Whether a predicate looks at nothing but columns of `sessions`. */
function coversSessions(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'all':
    case 'any':
      return predicate.of.every(coversSessions)
    case 'string':
    case 'list':
      return DIMENSIONS[predicate.dimension].session !== undefined
    case 'property':
    case 'anonymous':
      return false
    default:
      return predicate satisfies never
  }
}
