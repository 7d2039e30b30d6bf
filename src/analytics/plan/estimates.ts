/** Estimates how much of a project a query reads, from the sizes of the project: facts, groups, rows of rollups, columns. */
import { PROPERTY_NAMES, PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { DAY_MS, startOfMonth } from '../../lib/time.js'
import { DIMENSIONS, isDimensionName } from '../../model/dimensions.js'
import type { Measure } from '../../model/measures.js'
import { findDimensionOfSums } from '../../model/number-sums.js'
import { findPair, type Pair } from '../../model/pairs.js'
import type { MonthSize, ProjectSizes } from '../../model/project-sizes.js'
import { type RelationName, RELATIONS } from '../../model/relations.js'
import { TOTAL } from '../../model/rollups.js'
import { countBuckets } from '../request/buckets.js'
import type { Predicate } from '../request/filters.js'
import type { Period } from '../request/period.js'
import type { GroupedBy, Query } from '../request/query.js'
import { listGroupingTerms, listTerms, listTermsOfNeed, nameTerm, type Term } from './coverage.js'
import { countDays } from './divide-period.js'

const LONGEST_MONTH_MS = 31 * DAY_MS

interface FactsEstimate extends Omit<MonthSize, 'month'> {
  /** In how many months they lie. */
  readonly months: number
}

/** Estimates the number of events and visits in some periods, as if those of each month were spread evenly. */
export function estimateFacts(
  { months, readAt }: ProjectSizes,
  periods: readonly Period[],
): FactsEstimate {
  const start = Math.min(...periods.map((period) => period.start.getTime())) - LONGEST_MONTH_MS
  const end = Math.max(...periods.map((period) => period.end.getTime()))
  let [events, visits, count] = [0, 0, 0]
  for (const { month, ...size } of months) {
    // Most months of a long history lie outside of most periods.
    if (month.getTime() <= start || month.getTime() >= end) continue
    const next = startOfMonth(month, 1)
    const whole = { start: month, end: month < readAt && readAt < next ? readAt : next }
    const share = periods.reduce((sum, period) => sum + getShare(period, whole), 0)
    events += share * size.events
    visits += share * size.visits
    if (share > 0) count += 1
  }
  return { events, visits, months: count }
}

/** Returns the share of `whole` that a period covers, from 0 to 1. */
function getShare(period: Period, whole: Period): number {
  const start = Math.max(period.start.getTime(), whole.start.getTime())
  const end = Math.min(period.end.getTime(), whole.end.getTime())
  return Math.max(0, end - start) / (whole.end.getTime() - whole.start.getTime())
}

/** The number of values assumed for a dimension whose number is not known. */
const MANY_VALUES = 5_000
const FEW_VALUES = 50

/** The share of rows that filters are assumed to match. */
const MATCHING_SHARE = 0.1

/** Estimates the share of rows that the filters of a plan match. */
export const estimateMatchingShare = ({ predicate }: Query): number =>
  listTerms(predicate).length === 0 ? 1 : MATCHING_SHARE

/** Estimates how many groups a query has. */
export function countGroups(query: Query, sizes: ProjectSizes): number {
  const { grouping, groupLimit = Infinity, period } = query
  const values = countValues(query, sizes)
  switch (grouping.kind) {
    case 'none':
      return 1
    case 'project':
      return query.projectIds.length
    case 'interval':
      return (
        countBuckets(grouping.granularity, period, grouping.zoned) * Math.min(groupLimit, values)
      )
    case 'clock':
    case 'property_names':
    case 'dimension':
    case 'property': {
      // A group has at least one event.
      const { events } = estimateFacts(sizes, [period])
      return Math.min(values, events * estimateMatchingShare(query))
    }
    default:
      return grouping satisfies never
  }
}

/** Returns how many values the groupings of a query have, or pairs of values if it has two; 1 if it groups by no value. */
export const countValues = (query: GroupedBy, sizes: ProjectSizes): number =>
  listGroupingTerms(query)
    .map((term) => getValues(nameTerm(term), sizes))
    .reduce((product, values) => product * values, 1)

/** Returns how many values a dimension has; a guess if that is not known. Those of `event:prop` are the values of all properties. */
export function getValues(dimension: string, sizes: ProjectSizes): number {
  const { values } = sizes
  if (dimension === TOTAL) return 1
  const pair = findPair(dimension)
  if (pair !== undefined) return getValues(pair.of, sizes) * getValues(pair.by, sizes)
  const known = dimension === PROPERTY_NAMES ? sumValues(values) : values.get(dimension)
  if (known !== undefined) return known
  const summed = findDimensionOfSums(dimension)
  if (summed !== undefined) return getValues(summed, sizes)
  const isWide = !isDimensionName(dimension) || DIMENSIONS[dimension].highCardinality === true
  return isWide ? MANY_VALUES : FEW_VALUES
}

/** Adds up the values of the properties; undefined if none is known. */
function sumValues(values: ProjectSizes['values']): number | undefined {
  const known = [...values].filter(([name]) => name.startsWith(PROPERTY_PREFIX))
  return known.length === 0 ? undefined : known.reduce((sum, [, count]) => sum + count, 0)
}

const DAYS_OF_MONTH = 31

/** Estimates for how many days or months a rollup has rows in some periods. */
export function countDates(
  relation: RelationName,
  periods: readonly Period[],
  sizes: ProjectSizes,
): number {
  const { months } = estimateFacts(sizes, periods)
  return RELATIONS[relation].grain === 'day'
    ? Math.min(countDays(periods), months * DAYS_OF_MONTH)
    : months
}

/** Estimates how many rows a rollup has of a dimension in some periods. A row counts at least one event. */
export const countRollupRows = (
  relation: RelationName,
  dimension: string,
  periods: readonly Period[],
  sizes: ProjectSizes,
): number =>
  Math.min(
    countDates(relation, periods, sizes) * getValues(dimension, sizes),
    estimateFacts(sizes, periods).events,
  )

/**
 * Estimates how many rows of a pair a query reads. They are sorted by the second dimension first, so a filter by it finds them; often it
 * lists a few values.
 */
export function countPairRows(
  { predicate }: Query,
  { name, of, by }: Pair,
  relation: RelationName,
  periods: readonly Period[],
  sizes: ProjectSizes,
): number {
  const rows = countRollupRows(relation, name, periods, sizes)
  if (!listTerms(predicate).some((term) => nameTerm(term) === by)) return rows
  const matching = rows * MATCHING_SHARE
  const listed = countListed(predicate, by)
  if (listed === undefined) return matching
  return Math.min(matching, listed * countDates(relation, periods, sizes) * getValues(of, sizes))
}

/** Counts the values of a dimension that a predicate lists, where it requires one of them; undefined where it does not. */
function countListed(predicate: Predicate, dimension: string): number | undefined {
  if (predicate.kind === 'list') {
    const isListed = predicate.dimension === dimension && predicate.operator === 'oneOf'
    return isListed ? predicate.values.length : undefined
  }
  if (predicate.kind !== 'all') return undefined
  const counts = predicate.of.flatMap((part) => countListed(part, dimension) ?? [])
  return counts.length === 0 ? undefined : Math.min(...counts)
}

/** Estimates the share of events that lie in the most frequent of a number of groups, if the frequencies of values are log-uniform. */
export function estimateShare(values: number, keys: number | undefined): number {
  if (keys === undefined) return 1
  return Math.min(1, Math.log1p(keys) / Math.log1p(values))
}

/** How many other columns cost as much to read as the map of all properties of an event. */
const COLUMNS_OF_PROPERTIES = 6

/** Counts the columns of facts that a query groups and filters by, and has numbers of. */
export const countColumns = (query: Query, measures: readonly Measure[]): number =>
  countColumnsOf([
    ...listTerms(query.predicate),
    ...listGroupingTerms(query),
    ...measures.flatMap(listTermsOfNeed),
  ])

export const countColumnsOf = (terms: readonly Term[]): number =>
  [...new Set(terms.map(nameTerm))]
    .map((name) => (name.startsWith(PROPERTY_NAMES) ? COLUMNS_OF_PROPERTIES : 1))
    .reduce((sum, columns) => sum + columns, 0)
