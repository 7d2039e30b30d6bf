/** Writes the groups of a plan: one row each, with the measures of all scans. */
import { int64, join, sql, type Sql } from '../../clickhouse/sql.js'
import { GRANULARITIES } from '../../model/granularities.js'
import { MEASURE_COLUMNS, type Measure } from '../../model/measures.js'
import { RELATIONS } from '../../model/relations.js'
import { inclusiveEnd } from '../request/period.js'
import type { Plan, Scan } from '../plan/planner.js'
import type { Query } from '../request/query.js'
import { scanned } from './scan.js'

/**
 * The groups as SQL: `group_key` and a `measure_…` for each measure of the plan.
 *
 * @param keys a subquery of the groups that users are counted of; absent: of all
 */
export function groups({ query, scans, rows }: Plan, keys?: Sql): Sql {
  const [only, ...others] = scans
  const isFact = only !== undefined && RELATIONS[only.relation].rollup === undefined
  if (
    only !== undefined &&
    others.length === 0 &&
    (rows === 'one' || (rows === 'events' && isFact))
  ) {
    return scanned(
      query,
      only,
      only.measures.map((measure) =>
        given(only, measure, RELATIONS[only.relation].measures[measure]),
      ),
      keys,
    )
  }
  const measures = [...new Set(scans.flatMap((scan) => scan.measures))]
  const areSets = scans.filter((scan) => scan.measures.includes('users')).length > 1
  const parts = scans.map((scan) => {
    const columns = measures.map((measure) => partOf(scan, measure, areSets))
    const isGroup = rows === 'one' ? sql`true` : isRow(scan)
    return scanned(
      query,
      scan,
      [...columns, sql`${isGroup} AS is_row`],
      isForUsers(scan) ? keys : undefined,
    )
  })
  if (rows === 'buckets') parts.push(buckets(query, measures, areSets))
  const united = measures.map((measure) => {
    const column = MEASURE_COLUMNS[measure]
    const unite = measure === 'users' && areSets ? sql`groupBitmapMerge` : sql`sum`
    return sql`${unite}(parts.${column}) AS ${column}`
  })
  return sql`SELECT ${join([sql`group_key`, ...united])} FROM (${join(parts, sql` UNION ALL `)}) AS parts GROUP BY group_key HAVING max(is_row)`
}

const isRow = ({ relation, makesGroups }: Scan): Sql =>
  (makesGroups ? RELATIONS[relation].isGroup : undefined) ?? sql`false`

/** A measure of a scan's groups; one that the scan does not give adds nothing. */
function partOf(scan: Scan, measure: Measure, areSets: boolean): Sql {
  const { measures, userBitmap } = RELATIONS[scan.relation]
  const isSet = measure === 'users' && areSets
  if (!scan.measures.includes(measure)) return nothing(measure, isSet)
  return given(scan, measure, isSet ? userBitmap : measures[measure])
}

function given(scan: Scan, measure: Measure, expression: Sql | undefined): Sql {
  if (expression === undefined) throw new TypeError(`${scan.relation} has no ${measure}`)
  return sql`${expression} AS ${MEASURE_COLUMNS[measure]}`
}

const nothing = (measure: Measure, isSet: boolean): Sql =>
  sql`${isSet ? sql`bitmapBuild(emptyArrayUInt32())` : sql`0`} AS ${MEASURE_COLUMNS[measure]}`

/** Every bucket of the period as a row without counts. */
function buckets({ grouping, period }: Query, measures: readonly Measure[], areSets: boolean): Sql {
  if (grouping.kind !== 'interval') throw new TypeError('only a time series has buckets')
  const { toBucket } = GRANULARITIES[grouping.granularity]
  const [first, last] = [toBucket(period.start), toBucket(inclusiveEnd(period))]
  const nothings = measures.map((measure) => nothing(measure, areSets && measure === 'users'))
  const bucket = sql`arrayJoin(range(${int64(first)}, ${int64(last + 1)})) AS group_key`
  return sql`SELECT ${join([bucket, ...nothings, sql`true AS is_row`])}`
}

/** Whether a scan is there for users alone: it may leave out what need not be counted. */
const isForUsers = ({ measures, makesGroups }: Scan): boolean =>
  !makesGroups && measures.every((measure) => measure === 'users')
