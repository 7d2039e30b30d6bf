/** Users that have left groups of the rollups: finds them, and removes them from shadow tables. */
import type { Connection } from '../clickhouse/connection.js'
import { join, not, sql, statement, string, TRUE, type Sql } from '../clickhouse/sql.js'
import { type DimensionName, DIMENSIONS } from '../model/dimensions.js'
import { COUNTED_ATTRIBUTES } from '../model/fact-columns.js'
import { IS_PAIR_NAME, PAIRS } from '../model/pairs.js'
import type { ShadowTables } from '../model/rollup-table-sets.js'
import { IS_PAIRED } from './pair-views.js'
import { removeUsersFromRollups } from './remove-users.js'

/**
 * Removes the users that left groups since the snapshot from the shadow tables. The caller has added all changes, and has
 * held the loader lease since the recording ended.
 */
export async function removeFormerUsers(holder: Connection, shadow: ShadowTables): Promise<void> {
  if (!(await haveEventsMoved(holder, shadow))) return
  await holder.execute(statement(createFormerUsers(shadow.staleUsers, selectSubtracted(shadow))))
  await removeUsersFromRollups(holder, {
    stale: shadow.staleUsers,
    generation: FIRST_GENERATION,
    rollups: shadow.rollups,
  })
}

/** Later than the generation 0 of all rows of the shadow tables, and not later than that of any load to come. */
const FIRST_GENERATION = 1

async function haveEventsMoved(holder: Connection, { changes }: ShadowTables): Promise<boolean> {
  const { rows } = await holder.query<{ subtracted: number }>(
    statement(sql`SELECT countIf(sign < 0) AS subtracted FROM ${changes.events}`),
  )
  return (rows[0]?.subtracted ?? 0) > 0
}

/**
 * Writes the groups of users that an event leaves when the attributes of its session change, as an array of tuples: dimension, value and
 * the other value of a pair. An event keeps its page and its name, so these are groups of attributes, alone and in pairs.
 *
 * @param read writes how the column of an attribute is read
 */
export function listHeldGroups(read: (column: Sql) => Sql): Sql {
  const values = new Map(COUNTED_ATTRIBUTES.map(({ dimension, write }) => [dimension, write(read)]))
  const write = (dimension: DimensionName): Sql =>
    sql`toString(${values.get(dimension) ?? DIMENSIONS[dimension].eventColumn ?? sql`''`})`
  const singles = COUNTED_ATTRIBUTES.map(
    ({ dimension }) => sql`(${string(dimension)}, ${write(dimension)}, '')`,
  )
  const pairs = PAIRS.map(({ name, of, by }) => sql`(${string(name)}, ${write(of)}, ${write(by)})`)
  return sql`[${join([...singles, ...pairs])}]`
}

const HELD_GROUPS = listHeldGroups((column) => column)

const GRAINS = sql`['daily', 'monthly']`
/** A user in a group, by day and by month. */
const IN_GROUP = sql`grain, project_id, user, if(grain = 'daily', day, toStartOfMonth(day)) AS date, dimension, value, other`

/** Events that a load is about to replace. */
interface Replacement {
  /** Whether a stored event stays. */
  readonly stays: Sql
  /** Selects the events that take the place of the others: the project, the time, the user, the name, the page and the session attributes. */
  readonly arriving: Sql
}

/** Groups of events, one row for each event and each group that it may leave. */
const selectHeld = (from: Sql): Sql => sql`
SELECT DISTINCT project_id, user, toDate(timestamp) AS day, held.1 AS dimension, held.2 AS value, held.3 AS other
${from}
ARRAY JOIN ${HELD_GROUPS} AS held`

/**
 * Creates a table for `removeUsersFromRollups` of the users that have no event left in groups that events have left: by day
 * (`grain` is `daily`) and by month (`monthly`, with its first day).
 *
 * @param left selects the users and the groups that events of them have left: `project_id`, `user`, `day`, `dimension`,
 *   `value` and `other`, each once
 * @param replacement what is about to happen to the stored events; nothing if it is absent
 */
export const createFormerUsers = (table: Sql, left: Sql, replacement?: Replacement): Sql => sql`
CREATE TABLE ${table} ENGINE = MergeTree ORDER BY (grain, project_id, dimension, value, other, day) AS
WITH
  were AS (SELECT * FROM (${left}) WHERE ${not(IS_PAIR_NAME)} OR ${IS_PAIRED}),
  are AS (
    ${selectHeld(sql`FROM events`)}
    WHERE (project_id, toDate(timestamp), user) IN (
      -- The days of each month; the last may be in the next one.
      SELECT DISTINCT project_id, toStartOfMonth(day) + arrayJoin(range(31)), user FROM were)
      AND (dimension, value, other) IN (SELECT dimension, value, other FROM were)
      AND ${replacement?.stays ?? TRUE}
    ${replacement === undefined ? sql`` : sql`UNION ALL ${selectHeld(sql`FROM (${replacement.arriving})`)}`}
  )
SELECT grain, project_id, user, date AS day, dimension, value, other
FROM (SELECT DISTINCT ${IN_GROUP} FROM were ARRAY JOIN ${GRAINS} AS grain)
WHERE (grain, project_id, user, date, dimension, value, other) NOT IN (SELECT ${IN_GROUP} FROM are ARRAY JOIN ${GRAINS} AS grain)`

/** Selects the users and groups of the events that were subtracted since the snapshot. */
const selectSubtracted = ({ changes }: ShadowTables): Sql => sql`
SELECT DISTINCT project_id, user, toDate(timestamp) AS day, former.1 AS dimension, former.2 AS value, former.3 AS other
FROM ${changes.events}
ARRAY JOIN ${HELD_GROUPS} AS former
WHERE sign < 0`
