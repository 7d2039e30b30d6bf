/** The ways in which a query can be answered exactly. */
import { isRollup, RELATIONS, type Grain, type RelationName } from '../../model/relations.js'

/** A way of reading. Every way gives the same response. */
export interface Way {
  /** The relations that may be read, the cheapest first. */
  readonly relations: readonly RelationName[]
  /** Those of them that are not read, because others may take less time. */
  readonly avoided: ReadonlySet<RelationName>
  /** Whether to count users in a second step if that is possible. */
  readonly defersUsers: boolean
}

/** The grains of rollups that a way avoids, the coarsest first. */
const AVOIDED_GRAINS: readonly (readonly [Grain, ...Grain[]])[] = [
  ['month'],
  ['day'],
  ['month', 'day'],
]

/** Leaves out `whole_sessions`. */
export const withoutWholeSessions = (relations: readonly RelationName[]): readonly RelationName[] =>
  relations.filter((name) => name !== 'whole_sessions')

/** Lists the ways that avoid rollups which the way that avoids none reads. Several of them may read the same. */
export function listAvoidingWays(way: Way, read: readonly RelationName[]): readonly Way[] {
  const grains = new Set(read.filter(isRollup).map((name) => RELATIONS[name].grain))
  // Coarse rollups are tried first: if none are read, to avoid them changes nothing.
  return AVOIDED_GRAINS.filter(([coarsest]) => grains.has(coarsest)).map((avoided) => ({
    ...way,
    avoided: new Set(
      way.relations.filter((name) => isRollup(name) && avoided.includes(RELATIONS[name].grain)),
    ),
  }))
}
