/**
 * The pairs of dimensions that monthly rollups count together: for a query that groups by one of them and filters by the other. Only
 * large projects have them (`rollups/paired-projects.ts`).
 */
import { sql, strings, type Sql } from '../clickhouse/sql.js'
import type { DimensionName } from './dimensions.js'

export interface Pair {
  /** Its name in the column `dimension` of the rollups. */
  readonly name: string
  /** The dimension whose values are in the column `value`. */
  readonly of: DimensionName
  /** The dimension whose values are in the column `other`: rows are sorted by it first, so it is the better one to filter by. */
  readonly by: DimensionName
}

/**
 * Each dimension with those that it is paired with. All pairs take room and time of loading, so only those are here that people look at most:
 * see bench/figures/queries.md.
 */
const ROWS: readonly { readonly of: DimensionName; readonly by: readonly DimensionName[] }[] = [
  { of: 'page:path', by: ['country', 'channel'] },
  { of: 'event:name', by: ['country', 'device_type', 'channel'] },
  { of: 'utm_campaign', by: ['channel'] },
  { of: 'browser', by: ['country'] },
  { of: 'device_type', by: ['country'] },
  { of: 'channel', by: ['country', 'device_type'] },
]

export const PAIRS: readonly Pair[] = ROWS.flatMap(({ of, by }) =>
  by.map((one) => ({ name: `${of} and ${one}`, of, by: one })),
)

/** Whether the `dimension` of a row of a rollup is the name of a pair. */
export const IS_PAIR_NAME = sql`dimension IN ${strings(PAIRS.map(({ name }) => name))}`

const BY_NAME: ReadonlyMap<string, Pair> = new Map(PAIRS.map((pair) => [pair.name, pair]))

/** Finds a pair by its name; undefined for the name of a single dimension. */
export const findPair = (name: string): Pair | undefined => BY_NAME.get(name)

/**
 * Writes the column that has the value of a dimension or property in rows of a rollup.
 *
 * @param dimension the `dimension` of the rows
 */
export const readValue = (dimension: string | undefined, name: string): Sql =>
  dimension !== undefined && findPair(dimension)?.by === name ? sql`other` : sql`value`

/** Finds the pair of two dimensions, in any order. */
export const findPairOf = (one: string, other: string): Pair | undefined =>
  BY_NAME.get(`${one} and ${other}`) ?? BY_NAME.get(`${other} and ${one}`)
