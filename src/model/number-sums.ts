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

/** The last part of the `dimension` of a row. Each has one, so the row of a property whose name ends with a dimension is another. */
export const nameSuffix = (dimension: SummedDimension): string => ` and ${dimension}`

/** Names the sums of a property by a dimension, or of all its numbers, as in the column `dimension`. */
export const nameSums = (property: string, dimension: SummedDimension): string =>
  `${PROPERTY_PREFIX}${property}${nameSuffix(dimension)}`

/** Finds a dimension by which numbers are summed. */
export const findSummed = (name: string): SummedDimension | undefined =>
  SUMMED_DIMENSIONS.find((one) => one === name)

/** Finds the dimension of the sums of a name. */
export const findDimensionOfSums = (name: string): SummedDimension | undefined =>
  ([TOTAL, ...SUMMED_DIMENSIONS] as const).find((one) => name.endsWith(nameSuffix(one)))
