/** Removes users from the groups of the shadow tables that they left while those were computed. */
import type { Connection } from '../clickhouse/connection.js'
import { join, sql, statement, string, type Sql } from '../clickhouse/sql.js'
import { COUNTED_ATTRIBUTES } from '../model/fact-columns.js'
import type { ShadowTables } from '../model/rollup-table-sets.js'
import { removeUsersFromRollups } from './remove-users.js'

/**
 * Removes the users that left groups since the snapshot from the shadow tables. The caller has added all changes, and has
 * held the loader lease since the recording ended.
 */
export async function removeFormerUsers(holder: Connection, shadow: ShadowTables): Promise<void> {
  if (!(await haveEventsMoved(holder, shadow))) return
  await holder.execute(statement(listStaleUsers(shadow)))
  await removeUsersFromRollups(holder, shadow.staleUsers, FIRST_GENERATION, shadow.rollups)
}

/** Later than the generation 0 of all rows of the shadow tables, and not later than that of any load to come. */
const FIRST_GENERATION = 1

async function haveEventsMoved(holder: Connection, { changes }: ShadowTables): Promise<boolean> {
  const { rows } = await holder.query<{ subtracted: number }>(
    statement(sql`SELECT countIf(sign < 0) AS subtracted FROM ${changes.events}`),
  )
  return (rows[0]?.subtracted ?? 0) > 0
}

/** For each session attribute its dimension and its value. */
const ATTRIBUTE_GROUPS = join(
  COUNTED_ATTRIBUTES.map(
    ({ dimension, column }) => sql`(${string(dimension)}, toString(${column}))`,
  ),
)

/** Lists the users of events that left a group, and that have no event left in it. */
const listStaleUsers = ({ changes, staleUsers }: ShadowTables): Sql => sql`
CREATE TABLE ${staleUsers} ENGINE = MergeTree ORDER BY (grain, project_id, dimension, value, day) AS
WITH
  were AS (
    SELECT DISTINCT project_id, user, toDate(timestamp) AS day, former.1 AS dimension, former.2 AS value
    FROM ${changes.events}
    ARRAY JOIN [${ATTRIBUTE_GROUPS}] AS former
    WHERE sign < 0
  ),
  are AS (
    SELECT DISTINCT project_id, user, toDate(timestamp) AS day, held.1 AS dimension, held.2 AS value
    FROM events
    ARRAY JOIN [${ATTRIBUTE_GROUPS}] AS held
    WHERE (project_id, toDate(timestamp), user) IN (
      -- The days of each month; the last may be in the next one.
      SELECT DISTINCT project_id, toStartOfMonth(day) + arrayJoin(range(31)), user FROM were)
  )
SELECT 'daily' AS grain, * FROM were
WHERE (project_id, user, day, dimension, value) NOT IN (SELECT project_id, user, day, dimension, value FROM are)
UNION ALL
SELECT DISTINCT 'monthly', project_id, user, toStartOfMonth(day), dimension, value FROM were
WHERE (project_id, user, toStartOfMonth(day), dimension, value) NOT IN (
  SELECT project_id, user, toStartOfMonth(day), dimension, value FROM are)`
