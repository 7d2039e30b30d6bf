/** Estimates how many groups a query has, which share of the rows is in some of them, and how many columns it reads. */
import { DIMENSIONS, isDimensionName, PROPERTY_PREFIX } from '../../model/dimensions.js'
import type { ProjectSizes } from '../../model/project-sizes.js'
import { TOTAL } from '../../model/rollups.js'
import { countBuckets } from '../request/buckets.js'
import type { Grouping, Query } from '../request/query.js'
import { estimateFacts } from './sizes.js'
import { listGroupingTerms, listTerms, nameTerm, type Term } from './terms.js'

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
  const { grouping, period } = query
  switch (grouping.kind) {
    case 'none':
      return 1
    case 'interval':
      return countBuckets(grouping.granularity, period, grouping.zoned)
    case 'dimension':
    case 'property': {
      // A group has at least one event.
      const { events } = estimateFacts(sizes, [period])
      return Math.min(
        getValues(nameGrouping(grouping), sizes),
        events * estimateMatchingShare(query),
      )
    }
    default:
      return grouping satisfies never
  }
}

/** Returns how many values a dimension has; a guess if that is not known. */
export function getValues(dimension: string, { values }: ProjectSizes): number {
  if (dimension === TOTAL) return 1
  const known = values.get(dimension)
  if (known !== undefined) return known
  const isWide = !isDimensionName(dimension) || DIMENSIONS[dimension].highCardinality === true
  return isWide ? MANY_VALUES : FEW_VALUES
}

/** Estimates the share of events that lie in the most frequent groups, if the frequencies of values are log-uniform. */
export function estimateShare(
  dimension: string,
  sizes: ProjectSizes,
  keys: number | undefined,
): number {
  if (keys === undefined) return 1
  return Math.min(1, Math.log1p(keys) / Math.log1p(getValues(dimension, sizes)))
}

/** Names what a query groups by as in the column `dimension` of rollups. */
export const nameGrouping = (grouping: Grouping): string => {
  const [term] = listGroupingTerms(grouping)
  return term === undefined ? TOTAL : nameTerm(term)
}

/** The map of all properties of an event costs as much to read as so many other columns. */
const COLUMNS_OF_PROPERTIES = 6

/** Counts the columns of facts that a query groups and filters by. */
export const countColumns = ({ grouping, predicate }: Query): number =>
  countColumnsOf([...listTerms(predicate), ...listGroupingTerms(grouping)])

export const countColumnsOf = (terms: readonly Term[]): number =>
  [...new Set(terms.map(nameTerm))]
    .map((name) => (name.startsWith(PROPERTY_PREFIX) ? COLUMNS_OF_PROPERTIES : 1))
    .reduce((sum, columns) => sum + columns, 0)
