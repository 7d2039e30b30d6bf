/** Finds the rollup groups that still count users whose sessions have moved to other attributes. */
import { join, sql, string, type Sql } from '../../../clickhouse/sql.js'
import { COUNTED_ATTRIBUTES } from '../../../model/fact-columns.js'
import { createFormerUsers } from '../../../rollups/former-users.js'
import type { LoadTables } from './load-tables.js'

/** For each attribute its dimension, its former value and its new one. */
const CHANGES = COUNTED_ATTRIBUTES.map(
  ({ dimension: name, column }) =>
    sql`(${string(name)}, toString(load_past.${column}), toString(load_past.new_${column}))`,
)

/** Puts the users that have no event left in a group into the table `lost`. Runs after the events were published. */
export const findStaleRollupUsers = (tables: LoadTables): Sql =>
  createFormerUsers(
    tables.staleRollupUsers,
    sql`
SELECT DISTINCT load_moved.project_id AS project_id, load_moved.user AS user, toDate(timestamp) AS day, change.1 AS dimension, change.2 AS value
FROM ${tables.movedEvents} AS load_moved
INNER JOIN ${tables.previousStates} AS load_past ON load_past.session = load_moved.past_session
ARRAY JOIN [${join(CHANGES)}] AS change
WHERE change.2 != change.3`,
  )
