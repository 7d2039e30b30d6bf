/** Writes the metrics from the measures of groups, and the order of the rows. */
import { and, int64, join, sql, string, type Sql } from '../../clickhouse/sql.js'
import { EVENT_SUMS, MEASURE_COLUMNS, type Measure } from '../../model/measures.js'
import { describeMetric, isNumberMetric, type QueryMetric } from '../../model/metrics.js'
import {
  GROUPING_NAMES,
  isGroupingName,
  listGroupings,
  type GroupedBy,
  type GroupingName,
  type Query,
} from '../request/query.js'
import type { HavingOperator } from '../../contract/api.js'
import { findLastCompared } from '../request/comparison.js'
import { isRanked } from '../request/derived-queries.js'
import { isAlwaysNull } from '../request/visit-groups.js'

const sumEvents = (sums: readonly (typeof EVENT_SUMS)[number][]): Sql =>
  join(
    sums.map((sum) => MEASURE_COLUMNS[sum]),
    sql` + `,
  )

/** The events of a group. Every user that is counted has one of them, so a group has at most as many users. */
export const GROUP_EVENTS = sumEvents(EVENT_SUMS)

/**
 * Writes the users of a group. Every user has an event, and every event a user; but a load fills the rollups one after the
 * other, so a query may read users that are older or newer than the events beside them.
 *
 * @param sums the sums of events that are available
 */
function writeUsers(sums: readonly (typeof EVENT_SUMS)[number][]): Sql {
  const { users } = MEASURE_COLUMNS
  if (sums.length === 0) return users
  const events = sumEvents(sums)
  const atLeast = sql`greatest(toInt64(${users}), toInt64(${events} > 0))`
  return sums.length < EVENT_SUMS.length ? atLeast : sql`least(${atLeast}, toInt64(${events}))`
}

/** A null with the type of a metric: ClickHouse fails to sort rows that were joined to a column of nulls without a type. */
const NO_VALUE = sql`CAST(NULL, 'Nullable(Float64)')`

/**
 * Writes the columns of some metrics of a query.
 *
 * @param available the measures that the groups have
 */
export const selectMetrics = (
  query: Query,
  metrics: readonly QueryMetric[],
  available: readonly Measure[],
): readonly Sql[] => {
  const sums = EVENT_SUMS.filter((sum) => available.includes(sum))
  return metrics.map((metric) => {
    const { expression, column } = describeMetric(metric)
    if (isAlwaysNull(metric, query)) return sql`${NO_VALUE} AS ${column}`
    return sql`${metric === 'users' ? writeUsers(sums) : expression} AS ${column}`
  })
}

/** The columns of the keys of a row, by the groupings whose keys they are. */
const KEY_COLUMNS: Readonly<Record<GroupingName, Sql>> = {
  group: sql`group_key`,
  then_by: sql`then_key`,
  then_by_2: sql`then_key_2`,
  then_by_3: sql`then_key_3`,
}

/** Lists the groupings of a query by their names. */
const listNames = (query: GroupedBy): readonly GroupingName[] =>
  GROUPING_NAMES.slice(0, listGroupings(query).length)

/** Lists the columns that identify a row: the key of its group, and those of the further groupings. */
export const listKeys = (query: GroupedBy): readonly Sql[] =>
  listNames(query).map((name) => KEY_COLUMNS[name])

/** Writes keys as one value: a tuple, if there are several. */
const tupleOf = ([first = sql`''`, ...others]: readonly Sql[]): Sql =>
  others.length === 0 ? first : sql`tuple(${join([first, ...others])})`

/** Writes the keys of a row as one value. */
export const writeKey = (query: GroupedBy): Sql => tupleOf(listKeys(query))

/** Writes the keys of the groupings after the first as one value, or that of the only one: they say which series a row belongs to. */
export function writeSeriesKey(query: GroupedBy): Sql {
  const [first, ...others] = listKeys(query)
  return tupleOf(first === undefined || others.length > 0 ? others : [first])
}

/** Writes the keys of a row as columns. */
export const nameKeys = (query: GroupedBy, keys: readonly Sql[]): readonly Sql[] =>
  nameColumns(keys, listKeys(query))

/** Writes values as columns with as many names: the first value with the first name, and so on. */
export const nameColumns = (values: readonly Sql[], names: readonly Sql[]): readonly Sql[] =>
  names.flatMap((name, i) => values.slice(i, i + 1).map((value) => sql`${value} AS ${name}`))

/** Writes a metric in units in which it is whole, as an integer: numbers in billionths, others in hundredths. */
const countUnits = (metric: QueryMetric, column: Sql): Sql =>
  isNumberMetric(metric)
    ? sql`toInt256(toDecimal256(${column}, 9) * toDecimal256(1000000000, 0))`
    : sql`toInt64(round(${column} * 100))`

/** Writes what the rows are ordered by, from a metric in both periods: as the response shows it. */
function writeAgainst(query: Query): Sql {
  const { by, against } = query.order
  if (isGroupingName(by)) throw new TypeError('groupings have no other period')
  const { column, comparedColumn, isPercentage = false } = describeMetric(by)
  const [now, before] = [countUnits(by, column), countUnits(by, comparedColumn)]
  const value =
    against === 'difference' || isPercentage
      ? sql`(${now} - ${before})`
      : writeChange(by, now, before)
  const last = findLastCompared(query)
  return last === undefined ? value : sql`if(group_key > ${int64(last)}, NULL, ${value})`
}

/** Writes the change in hundredths of a per cent, rounded as in `comparison.ts`. */
function writeChange(metric: QueryMetric, now: Sql, before: Sql): Sql {
  const difference = sql`(${now} - ${before})`
  const rounded = isNumberMetric(metric)
    ? sql`intDiv(20000 * abs(${difference}) + abs(${before}), 2 * abs(${before}))`
    : sql`floor(abs(${difference} * 10000 / ${before}) + 0.5)`
  return sql`if(${before} = 0, NULL, sign(${difference}) * ${rounded})`
}

const HAVING: Readonly<Record<HavingOperator, Sql>> = {
  gt: sql`>`,
  gte: sql`>=`,
  lt: sql`<`,
  lte: sql`<=`,
  eq: sql`=`,
  ne: sql`!=`,
}

/** Writes the condition on the metrics of a row; nothing without one. A metric that is null satisfies none. */
export function writeHaving({ having }: Query): Sql {
  if (having.length === 0) return sql``
  const conditions = having.map(({ metric, operator, value }) => {
    const { column } = describeMetric(metric)
    const units = isNumberMetric(metric) ? sql`1000000000` : sql`100`
    const bound = sql`toDecimal256(${string(value.toFixed(9))}, 9) * ${units}`
    return sql`${countUnits(metric, column)} ${HAVING[operator]} ${bound}`
  })
  return sql` WHERE ${and(conditions)}`
}

/** Writes the order of the rows: by a metric or one of the groupings, and then by the groupings that are left. */
export function orderRows(query: Query): Sql {
  const { order } = query
  const direction = order.direction === 'asc' ? sql`ASC` : sql`DESC`
  const others = orderByGroups(query)
  if (isGroupingName(order.by)) {
    return join([sql`${KEY_COLUMNS[order.by]} ${direction}`, ...others])
  }
  const by = order.against === undefined ? describeMetric(order.by).column : writeAgainst(query)
  return join([sql`${by} ${direction} NULLS LAST`, ...others])
}

/** Orders by the groupings that the order does not name. Series are in the order of their groups, the largest first. */
function orderByGroups(query: Query): readonly Sql[] {
  const { by } = query.order
  const rest = listNames(query).filter((name) => name !== by)
  if (!isRanked(query)) return rest.map((name) => sql`${KEY_COLUMNS[name]} ASC`)
  const group = by === 'group' ? [] : [sql`${KEY_COLUMNS.group} ASC`]
  const isOneGroup = by === 'then_by' && query.thenBy.length === 1
  return isOneGroup ? group : [...group, sql`indexOf(${RANKED_KEYS}, ${writeSeriesKey(query)}) ASC`]
}

/** The groups that have a series, the largest first, as an array that the statement begins with. */
export const RANKED_KEYS = sql`ranked_keys`
