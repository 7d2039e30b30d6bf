/** Finds the rollup groups that still count users whose sessions have moved to other attributes. */
import { join, sql, string, type Sql } from '../../../clickhouse/sql.js'
import { COUNTED_ATTRIBUTES } from '../../../model/fact-columns.js'
import type { LoadTables } from './load-tables.js'

/** For each attribute its dimension, its former value and its new one. */
const CHANGES = COUNTED_ATTRIBUTES.map(
  ({ dimension: name, column }) =>
    sql`(${string(name)}, toString(load_past.${column}), toString(load_past.new_${column}))`,
)
/** For each attribute its dimension and its value. */
const VALUES = COUNTED_ATTRIBUTES.map(
  ({ dimension: name, column }) => sql`(${string(name)}, toString(${column}))`,
)

const GRAINS = sql`['daily', 'monthly']`
/** A user in a group, by day and by month. */
const IN_GROUP = sql`grain, project_id, user, if(grain = 'daily', day, toStartOfMonth(day)) AS date, dimension, value`

/**
 * Puts the users that have no event left in a group into the table `lost`, by day (`grain` is `daily`) and by
 * month (`monthly`, with its first day). Runs after the events were published.
 */
export const findStaleRollupUsers = (tables: LoadTables): Sql => sql`
CREATE TABLE ${tables.staleRollupUsers} ENGINE = MergeTree ORDER BY (grain, project_id, dimension, value, day) AS
WITH
  were AS (
    SELECT DISTINCT load_moved.project_id AS project_id, load_moved.user AS user, toDate(timestamp) AS day, change.1 AS dimension, change.2 AS value
    FROM ${tables.movedEvents} AS load_moved
    INNER JOIN ${tables.previousStates} AS load_past ON load_past.session = load_moved.past_session
    ARRAY JOIN [${join(CHANGES)}] AS change
    WHERE change.2 != change.3
  ),
  are AS (
    SELECT DISTINCT project_id, user, toDate(timestamp) AS day, held.1 AS dimension, held.2 AS value
    FROM events
    ARRAY JOIN [${join(VALUES)}] AS held
    WHERE (project_id, toDate(timestamp), user) IN (
      -- The days of each month; the last may be in the next one.
      SELECT DISTINCT project_id, toStartOfMonth(day) + arrayJoin(range(31)), user FROM were)
      AND (dimension, value) IN (SELECT dimension, value FROM were)
  )
SELECT grain, project_id, user, date AS day, dimension, value
FROM (SELECT DISTINCT ${IN_GROUP} FROM were ARRAY JOIN ${GRAINS} AS grain)
WHERE (grain, project_id, user, date, dimension, value) NOT IN (SELECT ${IN_GROUP} FROM are ARRAY JOIN ${GRAINS} AS grain)`
