/** The views that fill the rollups of pairs. Each reads its rows once, and groups them by all of its pairs with GROUPING SETS. */
import { int64s, join, numberedName, sql, strings, type Sql } from '../clickhouse/sql.js'
import { DIMENSIONS, type DimensionName } from '../model/dimensions.js'
import { COUNTED_ATTRIBUTES } from '../model/fact-columns.js'
import { IS_VISIT, isCustomEvent, isPageview, VISIT_AGGREGATES } from '../model/facts.js'
import { PAIRS, type Pair } from '../model/pairs.js'
import type { RollupTables } from '../model/rollup-table-sets.js'

/** A materialized view. */
export interface View {
  /** Its name without the prefix that all views share. */
  readonly name: string
  /** The table that it fills. */
  readonly target: Sql
  readonly select: Sql
}

/** Writes the value of a dimension in rows of some kind. */
type WriteValue = (dimension: DimensionName) => Sql

const WRITE_ATTRIBUTE = new Map(
  COUNTED_ATTRIBUTES.map(({ dimension, write }) => [dimension, write]),
)

/** Creates what writes values: session attributes from the columns that `read` writes, other dimensions by `writeOther`. */
const createWriter =
  (
    read: (column: Sql) => Sql,
    writeOther: (dimension: DimensionName) => Sql | undefined,
  ): WriteValue =>
  (dimension) => {
    const value = WRITE_ATTRIBUTE.get(dimension)?.(read) ?? writeOther(dimension)
    if (value === undefined) throw new TypeError(`the rows of a view lack ${dimension}`)
    return value
  }

const readColumn = (column: Sql): Sql => column
export const EVENT_VALUES = createWriter(
  readColumn,
  (dimension) => DIMENSIONS[dimension].eventColumn,
)
const ENTRY_VALUES = createWriter(readColumn, (dimension) => DIMENSIONS[dimension].entryColumn)

/** Visits are in no group of names. */
const OF_VISITS = PAIRS.filter(
  ({ of }) =>
    DIMENSIONS[of].sessionColumn !== undefined || DIMENSIONS[of].entryColumn !== undefined,
)

/** A column for each dimension of one side of some pairs. */
interface Keys {
  readonly names: readonly Sql[]
  readonly columns: readonly Sql[]
  readonly nameOf: (dimension: DimensionName) => Sql
}

export function listKeys(
  dimensions: readonly DimensionName[],
  name: (i: number) => Sql,
  writeValue: WriteValue,
): Keys {
  const known = new Map([...new Set(dimensions)].map((dimension, i) => [dimension, name(i)]))
  return {
    names: [...known.values()],
    columns: [...known].map(
      ([dimension, column]) => sql`toString(${writeValue(dimension)}) AS ${column}`,
    ),
    nameOf: (dimension) => known.get(dimension) ?? sql``,
  }
}

/** Writes the value of a row: the keys that its set does not have are empty. */
export const joinKeys = ({ names }: Keys): Sql => sql`concat(${join([sql`''`, ...names])})`

/**
 * Writes the name of the grouping set that a row is of.
 *
 * @param keys all keys
 * @param sets those of each set
 * @param names the names of the sets, in the same order
 */
export function nameSets(
  keys: readonly Sql[],
  sets: readonly (readonly Sql[])[],
  names: readonly string[],
): Sql {
  // The bits of the keys that a set does not have, the first key in the highest bit.
  const masks = sets.map((set) =>
    keys.reduce((mask, key) => 2 * mask + (set.includes(key) ? 0 : 1), 0),
  )
  return sql`transform(toInt64(grouping(${join(keys)})), ${int64s(masks)}, ${strings(names)}, '')`
}

/**
 * Writes the rows of some pairs. The keys of the other pairs are empty in a row, so a value is all of its side joined together.
 *
 * @param from rows with `project_id` and `month`, from which the values are written
 * @param columns what the aggregates are computed from
 */
function groupByPairs(
  pairs: readonly Pair[],
  writeValue: WriteValue,
  from: Sql,
  columns: Sql,
  aggregates: Sql,
): Sql {
  const of = listKeys(
    pairs.map((pair) => pair.of),
    (i) => numberedName('of', i, 'key'),
    writeValue,
  )
  const by = listKeys(
    pairs.map((pair) => pair.by),
    (i) => numberedName('by', i, 'key'),
    writeValue,
  )
  const keys = [...of.names, ...by.names]
  const sets = pairs.map((pair) => [of.nameOf(pair.of), by.nameOf(pair.by)])
  const names = pairs.map(({ name }) => name)
  return sql`
SELECT
  project_id, ${nameSets(keys, sets, names)} AS dimension,
  ${joinKeys(of)} AS value, ${joinKeys(by)} AS other, month, ${aggregates}
FROM (SELECT project_id, month, ${columns}, ${join([...of.columns, ...by.columns])} FROM ${from})
GROUP BY GROUPING SETS (${join(sets.map((set) => sql`(project_id, month, ${join(set)})`))})`
}

/** The projects that have pairs. The subquery is run for each block that is inserted. */
export const IS_PAIRED = sql`project_id IN (SELECT project_id FROM paired_projects)`

export const MONTH = sql`toStartOfMonth(timestamp) AS month`
/** Defines the views of pairs. */
export function definePairViews(tables: RollupTables): readonly View[] {
  const { pairs_monthly: sums, pair_users_monthly: users } = tables.rollups
  const { eventChanges: events, sessions } = tables
  return [
    {
      name: 'pairs',
      target: sums,
      select: groupByPairs(
        PAIRS,
        EVENT_VALUES,
        sql`(SELECT *, ${MONTH} FROM ${events} WHERE ${IS_PAIRED})`,
        sql`sign, ${isPageview(sql`name`)} AS of_pageviews, ${isCustomEvent(sql`name`)} AS of_events`,
        sql`sum(sign * of_pageviews) AS pageviews, sum(sign * of_events) AS events`,
      ),
    },
    {
      name: 'pair_visits',
      target: sums,
      select: groupByPairs(
        OF_VISITS,
        ENTRY_VALUES,
        sql`(SELECT *, toStartOfMonth(start_at) AS month FROM ${sessions} WHERE ${IS_VISIT} AND ${IS_PAIRED})`,
        sql`sign, pageviews, events, pageleaves, start_at, end_at`,
        sql`${VISIT_AGGREGATES.visits} AS visits, ${VISIT_AGGREGATES.bounces} AS bounces, ${VISIT_AGGREGATES.duration} AS duration`,
      ),
    },
    {
      name: 'pair_users',
      target: users,
      // A user who has left a group is removed from it later.
      select: groupByPairs(
        PAIRS,
        EVENT_VALUES,
        sql`(SELECT *, ${MONTH} FROM ${events} WHERE sign > 0 AND ${IS_PAIRED})`,
        sql`user`,
        sql`toUInt64(0) AS generation, groupBitmapState(user) AS users`,
      ),
    },
  ]
}
