/** Reads back what the rollups of a project say. */
import { join, sql, string, type Sql } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { dateColumn } from '../../../src/rollups/shadow-tables.js'
import { isOfUsers, sumsOf } from '../../../src/model/rollup-measures.js'
import { LIVE, ROLLUP_NAMES, type RollupName } from '../../../src/model/rollup-tables.js'
import { select } from './facts.js'

/** What a group comes to: its sums, or the numbers of its users. */
const measured = (name: RollupName): Sql =>
  isOfUsers(name)
    ? sql`arraySort(arrayMap(user -> toInt64(user), bitmapToArray(groupBitmapMergeState(users))))`
    : sql`[${join(Object.values(sumsOf(name)).map((column) => sql`sum(${column})`))}]`

/** Every group of every rollup that comes to something. */
export function readRollups(store: Store, projectId: string): Promise<readonly object[]> {
  const all = ROLLUP_NAMES.map(
    (name) => sql`
SELECT ${string(name)} AS rollup, dimension, value, ${dateColumn(name)} AS date, ${measured(name)} AS measured
FROM ${LIVE.rollups[name]} WHERE project_id = ${string(projectId)}
GROUP BY ALL HAVING arrayExists(one -> one != 0, measured)`,
  )
  return select(
    store,
    sql`SELECT * FROM (${join(all, sql` UNION ALL `)}) ORDER BY rollup, dimension, value, date`,
  )
}
