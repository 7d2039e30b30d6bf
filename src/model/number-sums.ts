/**
 * The dimensions by whose values a monthly rollup sums the numbers in properties. Only large projects have it
 * (`rollups/paired-projects.ts`): it takes hardly any room, but each dimension takes time of loading.
 */
import { PROPERTY_PREFIX } from '../contract/filter-fields.js'
import type { DimensionName } from './dimensions.js'
import { TOTAL } from './rollups.js'

/** Those that people ask for numbers by, such as revenue by channel. */
export const SUMMED_DIMENSIONS = [
  'event:name',
  'channel',
  'country',
  'device_type',
  'browser',
  'utm_source',
  'utm_campaign',
] as const satisfies readonly DimensionName[]

export type SummedDimension = (typeof SUMMED_DIMENSIONS)[number] | typeof TOTAL

/** Ends the name of every row, so a property called `price and country` is never taken for `price` by country. */
export const nameSuffix = (dimension: SummedDimension): string => ` and ${dimension}`

/** Names the sums of a property by a dimension, or in total, as in the column `dimension`. */
export const nameSums = (property: string, dimension: SummedDimension): string =>
  `${PROPERTY_PREFIX}${property}${nameSuffix(dimension)}`

/** Returns the dimension of a name if numbers are summed by it. */
export const findSummed = (name: string): SummedDimension | undefined =>
  SUMMED_DIMENSIONS.find((one) => one === name)

/** Returns the dimension of a name that `nameSums` wrote. */
export const findDimensionOfSums = (name: string): SummedDimension | undefined =>
  ([TOTAL, ...SUMMED_DIMENSIONS] as const).find((one) => name.endsWith(nameSuffix(one)))
