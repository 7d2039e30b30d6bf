/**
 * The steps that delete a user: first the facts, then their share of the rollups, and the user's number last.
 *
 * The share of the rollups is computed into tables of the deletion before anything is deleted. Every later
 * statement states the result rather than a change, so it may be repeated after a crash at any point.
 */
import type { Connection } from '../clickhouse/connection.js'
import { dropTables } from '../clickhouse/drop-tables.js'
import { identifier, sql, statement, string, uint32, uint64, type Sql } from '../clickhouse/sql.js'
import { removeUsersFromRollups } from '../rollups/remove-users.js'
import { backfillRollups } from '../rollups/backfill.js'
import { applyRetraction, stageRetraction } from '../rollups/retract.js'
import { nameTables, type RollupTables } from '../model/rollup-tables.js'
import { endDeletion, recordStep, STEP, type Deletion } from './journal.js'

/** Deletes the user from the step that the deletion has reached. The caller holds the loader lease. */
export async function finishUserDeletion(writer: Connection, deletion: Deletion): Promise<void> {
  // The number is in the names: a process that slept until its lease expired finds its tables gone.
  const tables = nameTables(`removal_${deletion.number}_`)
  if (deletion.reached < STEP.staged) {
    await dropTables(writer, tables.prefix)
    await stageDeletion(writer, deletion, tables)
    await recordStep(writer, deletion, STEP.staged)
  }
  if (deletion.reached < STEP.deleted) {
    await applyDeletion(writer, deletion, tables)
    await recordStep(writer, deletion, STEP.deleted)
  }
  await dropTables(writer, tables.prefix)
  await endDeletion(writer, deletion)
}

/** Whether a row of a fact table is the user's. Later loads may have given the number to another user. */
const isOwnRow = ({ number, projectId, user }: Deletion): Sql =>
  sql`project_id = ${string(projectId)} AND user = ${uint32(user)} AND load < ${uint64(number)}`

/** The table of the groups that count the user. A deletion staged by an earlier release uses the same name. */
const nameGroupsTable = ({ prefix }: RollupTables): Sql => identifier(`${prefix}lost`)

async function stageDeletion(
  writer: Connection,
  deletion: Deletion,
  tables: RollupTables,
): Promise<void> {
  const own = isOwnRow(deletion)
  await backfillRollups(writer, tables, { events: own, sessions: own })
  await stageRetraction(writer, tables)
  const { users_daily, users_monthly } = tables.rollups
  const user = uint32(deletion.user)
  await writer.execute(
    statement(sql`
CREATE TABLE ${nameGroupsTable(tables)} ENGINE = MergeTree ORDER BY (grain, project_id, dimension, value, day) AS
SELECT DISTINCT 'daily' AS grain, project_id, dimension, value, day, ${user} AS user FROM ${users_daily}
UNION ALL
SELECT DISTINCT 'monthly', project_id, dimension, value, month, ${user} FROM ${users_monthly}`),
  )
}

async function applyDeletion(
  writer: Connection,
  deletion: Deletion,
  tables: RollupTables,
): Promise<void> {
  const own = isOwnRow(deletion)
  await writer.execute(statement(sql`DELETE FROM events WHERE ${own}`))
  await writer.execute(statement(sql`DELETE FROM sessions WHERE ${own}`))
  await applyRetraction(writer, tables)
  await removeUsersFromRollups(writer, nameGroupsTable(tables), deletion.number)
  // From here on a new user may get the number: no bitmap contains it any more.
  await writer.execute(statement(sql`DELETE FROM users WHERE ${own}`))
}
