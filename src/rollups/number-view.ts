/** The view that fills the rollup of sums of numbers. It groups the properties of events by all of its dimensions with GROUPING SETS. */
import { join, numberedName, sql, string, type Sql } from '../clickhouse/sql.js'
import { PROPERTY_PREFIX } from '../contract/filter-fields.js'
import { nameSuffix, SUMMED_DIMENSIONS } from '../model/number-sums.js'
import { CURRENCY, parseNumber } from '../model/numbers.js'
import { TOTAL } from '../model/rollups.js'
import type { RollupTables } from '../model/rollup-table-sets.js'
import {
  EVENT_VALUES,
  IS_PAIRED,
  joinKeys,
  listKeys,
  MONTH,
  nameSets,
  type View,
} from './pair-views.js'

const KEYS = listKeys(SUMMED_DIMENSIONS, (i) => numberedName('of', i, 'key'), EVENT_VALUES)
const SETS: readonly (readonly Sql[])[] = [[], ...KEYS.names.map((key) => [key])]
const NAMES = ([TOTAL, ...SUMMED_DIMENSIONS] as const).map(nameSuffix)

/** What all sets have. */
const SHARED = sql`project_id, property, other, month`

/** Defines the view of sums of numbers. */
export const defineNumberView = ({ eventChanges, rollups }: RollupTables): View => ({
  name: 'numbers',
  target: rollups.numbers_monthly,
  select: sql`
SELECT
  project_id, concat(${string(PROPERTY_PREFIX)}, property, ${nameSets(KEYS.names, SETS, NAMES)}) AS dimension,
  ${joinKeys(KEYS)} AS value, other, month,
  sumIf(toInt64(sign), isNotNull(number)) AS counted, sumIf(toInt64(sign), isNull(number)) AS others,
  sum(sign * ifNull(number, toDecimal128(0, 9))) AS sum
FROM (
  SELECT *, property, ${parseNumber(sql`text`)} AS number, if(isNull(number), '', currency) AS other
  FROM (
    SELECT project_id, ${MONTH}, sign, properties, ${CURRENCY} AS currency, ${join(KEYS.columns)}
    FROM ${eventChanges} WHERE ${IS_PAIRED} AND notEmpty(properties)
  )
  ARRAY JOIN mapKeys(properties) AS property, mapValues(properties) AS text
)
GROUP BY GROUPING SETS (${join(SETS.map((set) => sql`(${join([SHARED, ...set])})`))})`,
})
