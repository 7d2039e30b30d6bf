/** Writes the one statement of journeys: what visits did after an anchor, or before it, step by step. */
import {
  or,
  sql,
  statement,
  strings,
  uint32,
  type Sql,
  type Statement,
} from '../../clickhouse/sql.js'
import type { JourneyKind, JourneysRequest } from '../../contract/api.js'
import { isInteraction, isPageview } from '../../model/facts.js'
import { selectOrigin } from '../../model/origin.js'
import type { Plan } from '../plan/plan.js'
import type { Predicate } from '../request/filters.js'
import { writeFilter } from '../sql/filter.js'
import { createContext, writeRowsWithin, type StatementContext } from '../sql/rows.js'
import { toShardContext, writeRowsOfShards, type ShardGroup } from '../sql/shards.js'
import { createWhereWriter } from '../sql/where.js'

export interface Journeys {
  /** The plan of the events that belong to journeys. */
  readonly plan: Plan
  /** What the anchor matches. */
  readonly anchor: Predicate
  /** Whether the steps are those before the anchor. */
  readonly isBackward: boolean
  readonly kinds: JourneysRequest['kinds']
  /** The number of steps. */
  readonly depth: number
  readonly limit: number
}

/** A row of the statement. */
export interface JourneyStepRow {
  /** How many steps from the anchor; 0 for the anchor itself. */
  readonly step: number
  readonly kind: JourneyKind
  /** A path, or the name of an event; empty for other kinds. */
  readonly value: string
  readonly visits: number
  readonly users: number
}

/**
 * The kinds of steps as numbers, in the order of a response. An event is a pair of its kind and its value; events of the same moment
 * are in the order of these pairs.
 */
const KINDS = ['page', 'event', 'other', 'none', 'anchor'] as const satisfies readonly JourneyKind[]
const codeOf = (kind: JourneyKind): Sql => sql`toUInt8(${uint32(KINDS.indexOf(kind))})`

/** Writes the statement. @param group the shards that the project lives across; undefined if there is only one */
export function buildJourneysStatement(
  journeys: Journeys,
  nonce: string,
  group?: ShardGroup,
): Statement {
  const context = createContext(journeys.plan)
  const origin = selectOrigin(context.project, nonce)
  return statement(
    sql`
SELECT
  step, ${strings(KINDS)}[code + 1] AS kind, value,
  sum(visits) AS visits, toInt64(sum(users)) AS users, ${origin}
FROM (${selectLargest(journeys, selectGroups(context, journeys, group))})
GROUP BY step, code, value
ORDER BY step, greatest(code, ${codeOf('event')}), visits DESC, code, value`,
  )
}

/**
 * Takes the largest groups of each step, and joins the rest. Users are counted by shard: those of different shards have the same
 * numbers, and nobody is on two.
 */
function selectLargest({ limit }: Journeys, groups: Sql): Sql {
  const isStep = sql`code <= ${codeOf('event')}`
  const ranked = sql`
SELECT step, code, value, parts, NOT ${isStep} OR row_number() OVER (
  PARTITION BY step, ${isStep} ORDER BY all_visits DESC, code, value
) <= ${uint32(limit)} AS is_large
FROM (${groups})`
  return sql`
SELECT
  step, if(is_large, code, ${codeOf('other')}) AS code, if(is_large, value, '') AS value,
  sum(part.2) AS visits, groupBitmapMerge(part.3) AS users
FROM (${ranked})
ARRAY JOIN parts AS part
GROUP BY part.1, step, code, value`
}

/** Selects the steps of all visits, in groups: their visits, and the parts that shards have in them. */
function selectGroups(
  context: StatementContext,
  journeys: Journeys,
  group: ShardGroup | undefined,
): Sql {
  const [shard, counted] =
    group === undefined
      ? [sql`0`, sql`(${countSteps(context, journeys)})`]
      : [
          sql`shardNum()`,
          writeRowsOfShards(group, countSteps(toShardContext(context, group), journeys)),
        ]
  // ClickHouse takes a subquery of rows of shards for a scalar, unless it aggregates them.
  return sql`
SELECT step, code, value, sum(visits) AS all_visits, groupArray((${shard}, visits, users)) AS parts
FROM ${counted}
GROUP BY step, code, value`
}

/** Counts the visits of each step, and collects their users. */
const countSteps = (context: StatementContext, journeys: Journeys): Sql => sql`
SELECT
  place - 1 AS step, found.1 AS code, found.2 AS value, toInt64(count()) AS visits,
  groupBitmapState(owner) AS users
FROM (${selectPaths(journeys, selectVisits(context, journeys))})
ARRAY JOIN path AS found, arrayEnumerate(path) AS place
GROUP BY step, code, value`

/** Selects the path of each visit: the anchor, the steps, and that there are no more where they end early. */
function selectPaths({ isBackward, depth }: Journeys, visits: Sql): Sql {
  const away = isBackward
    ? sql`arrayReverse(arrayFilter(one -> one < anchor, entries))`
    : sql`arrayFilter(one -> one > anchor, entries)`
  // What is repeated at once is one step, also what repeats the anchor.
  const joined = sql`arrayCompact(arrayMap(one -> (one.2, one.3), arrayPushFront(${away}, anchor)))`
  return sql`
SELECT
  owner,
  arraySlice(arrayPushBack(${joined}, (${codeOf('none')}, '')), 2, ${uint32(depth)}) AS later,
  arrayPushFront(later, (${codeOf('anchor')}, '')) AS path
FROM (${visits})`
}

/**
 * Selects the visits with an anchor: their user, the first event that matches, and the events that can be steps, in order. Their
 * sessions are found first, since the events of all visits of a year would not fit into memory. A session is dropped if the second
 * read does not see its anchor.
 */
function selectVisits(context: StatementContext, { plan, anchor, kinds }: Journeys): Sql {
  const matches = writeFilter({ ...context, where: createWhereWriter(anchor) }, 'events')
  const ofKind = { page: isPageview(sql`name`), event: isInteraction(sql`name`) }
  const isStep = or(kinds.map((kind) => ofKind[kind]))
  const names = sql`
WITH
  toUnixTimestamp64Milli(timestamp) AS moment, ${ofKind.page} AS is_page, ${matches} AS matched, ${isStep} AS is_step,
  (moment, if(is_page, ${codeOf('page')}, ${codeOf('event')}), if(is_page, path, toString(name))) AS entry`
  const select = (...conditions: readonly Sql[]): Sql =>
    writeRowsWithin(
      context,
      'events',
      [plan.query.period],
      [writeFilter(context, 'events'), ...conditions],
    )
  const isOfVisit = sql`session IN (SELECT session FROM ${select(matches)})`
  return sql`${names}
SELECT any(user) AS owner, minIf(entry, matched) AS anchor, arraySort(groupArrayIf(entry, is_step)) AS entries
FROM ${select(isOfVisit, or([sql`matched`, sql`is_step`]))}
GROUP BY session
HAVING max(matched)`
}
