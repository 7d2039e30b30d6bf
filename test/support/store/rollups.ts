/** Reads the rollups of a project back. */
import { join, sql, string, type Sql } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { LIVE } from '../../../src/model/rollup-table-sets.js'
import {
  isOfPairedProjects,
  listSumColumns,
  ROLLUPS,
  type Rollup,
} from '../../../src/model/rollups.js'
import { select } from './facts.js'

/** Selects the sums of a group, or the numbers of its users. */
const selectMeasures = (rollup: Rollup): Sql =>
  rollup.sums.length === 0
    ? sql`arraySort(arrayMap(user -> toInt64(user), bitmapToArray(groupBitmapMergeState(users))))`
    : sql`[${join(listSumColumns(rollup).map((column) => sql`sum(${column})`))}]`

/** Writes the value of a group, or both values of a pair. */
const writeValue = (rollup: Rollup): Sql =>
  isOfPairedProjects(rollup) ? sql`concat(rollups.value, ' and ', other)` : sql`rollups.value`

/** Returns every group of every rollup that has a measure other than zero. */
export function readRollups(store: Store, projectId: string): Promise<readonly object[]> {
  const all = ROLLUPS.map(
    (rollup) => sql`
SELECT
  ${string(rollup.name)} AS rollup, dimension, ${writeValue(rollup)} AS value, ${rollup.dateColumn} AS date,
  ${selectMeasures(rollup)} AS measured
FROM ${LIVE.rollups[rollup.name]} AS rollups WHERE project_id = ${string(projectId)}
GROUP BY ALL HAVING arrayExists(one -> one != 0, measured)`,
  )
  return select(
    store,
    sql`SELECT * FROM (${join(all, sql` UNION ALL `)}) ORDER BY rollup, dimension, value, date`,
  )
}
