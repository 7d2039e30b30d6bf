/**
 * The pairs of dimensions that monthly rollups count together: for a query that groups by one of them and filters by the other. Only
 * large projects have them (`rollups/paired-projects.ts`).
 */
import { sql, type Sql } from '../clickhouse/sql.js'
import type { DimensionName } from './dimensions.js'

export interface Pair {
  /** Its name in the column `dimension` of the rollups. */
  readonly name: string
  /** The dimension whose values are in the column `value`. */
  readonly of: DimensionName
  /** The dimension whose values are in the column `other`: rows are sorted by it first, so it is the better one to filter by. */
  readonly by: SmallAttribute
  /** Whether the rollup of users has the pair as well. Sums cost little room, and bitmaps of users much. */
  readonly countsUsers: boolean
}

/** Session attributes with few values, the first the most likely to be filtered by. */
const SMALL_ATTRIBUTES = [
  'country',
  'device_type',
  'browser',
  'os',
  'referrer_type',
  'channel',
  'utm_source',
  'utm_medium',
] as const satisfies readonly DimensionName[]
type SmallAttribute = (typeof SMALL_ATTRIBUTES)[number]

/** Each dimension with the attributes that it is paired with. */
const ROWS: readonly { readonly of: DimensionName; readonly by: readonly SmallAttribute[] }[] = [
  { of: 'page:path', by: SMALL_ATTRIBUTES },
  { of: 'event:name', by: SMALL_ATTRIBUTES },
  { of: 'utm_campaign', by: SMALL_ATTRIBUTES },
  ...SMALL_ATTRIBUTES.map((of, i) => ({ of, by: SMALL_ATTRIBUTES.slice(0, i) })),
]

/**
 * The pairs whose users are counted: what each takes is in bench/figures/queries.md. Queries about the users of other pairs read facts.
 */
const USERS: Readonly<Partial<Record<DimensionName, readonly SmallAttribute[]>>> = {
  'page:path': ['country', 'channel'],
  'event:name': ['country', 'device_type', 'channel'],
  utm_campaign: ['channel'],
  device_type: ['country'],
  browser: ['country'],
  channel: ['country', 'device_type'],
}

export const PAIRS: readonly Pair[] = ROWS.flatMap(({ of, by }) =>
  by.map((one) => ({
    name: `${of} and ${one}`,
    of,
    by: one,
    countsUsers: USERS[of]?.includes(one) === true,
  })),
)

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
