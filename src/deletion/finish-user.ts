/**
 * Removes a user: first the facts, then what they came to from the rollups, and the user's number last.
 *
 * What it comes to is computed into tables of the removal before anything is deleted. Every statement after
 * that may be repeated, whatever has become of those before: it says what is to be, not what is to change.
 */
import type { Connection } from '../clickhouse/connection.js'
import { dropTables } from '../clickhouse/drop-tables.js'
import { identifier, sql, statement, string, uint32, uint64, type Sql } from '../clickhouse/sql.js'
import { removeUsersFromRollups } from '../rollups/remove-users.js'
import { backfillRollups } from '../rollups/backfill.js'
import { applyRetraction, stageRetraction } from '../rollups/retract.js'
import { tablesAt, type RollupTables } from '../model/rollup-tables.js'
import { endDeletion, recordStep, STEP, type Deletion } from './journal.js'

/** Removes the user, or goes on where it was left. The caller holds the lease of the loader. */
export async function finishUserDeletion(writer: Connection, removal: Deletion): Promise<void> {
  // Its number is in the names: who slept through the end of the lease finds the tables gone.
  const tables = tablesAt(`removal_${removal.number}_`)
  if (removal.reached < STEP.staged) {
    await dropTables(writer, tables.prefix)
    await stage(writer, removal, tables)
    await recordStep(writer, removal, STEP.staged)
  }
  if (removal.reached < STEP.removed) {
    await remove(writer, removal, tables)
    await recordStep(writer, removal, STEP.removed)
  }
  await dropTables(writer, tables.prefix)
  await endDeletion(writer, removal)
}

/** The user's rows in a table of facts. Later ones are of somebody who got the number after. */
const isOwn = ({ number, projectId, user }: Deletion): Sql =>
  sql`project_id = ${string(projectId)} AND user = ${uint32(user)} AND load < ${uint64(number)}`

const lostOf = ({ prefix }: RollupTables): Sql => identifier(`${prefix}lost`)

async function stage(writer: Connection, removal: Deletion, tables: RollupTables): Promise<void> {
  await backfillRollups(writer, tables, { events: isOwn(removal), sessions: isOwn(removal) })
  await stageRetraction(writer, tables)
  const { users_daily, users_monthly } = tables.rollups
  const user = uint32(removal.user)
  await writer.execute(
    statement(sql`
CREATE TABLE ${lostOf(tables)} ENGINE = MergeTree ORDER BY (grain, project_id, dimension, value, day) AS
SELECT DISTINCT 'daily' AS grain, project_id, dimension, value, day, ${user} AS user FROM ${users_daily}
UNION ALL
SELECT DISTINCT 'monthly', project_id, dimension, value, month, ${user} FROM ${users_monthly}`),
  )
}

async function remove(writer: Connection, removal: Deletion, tables: RollupTables): Promise<void> {
  const own = isOwn(removal)
  await writer.execute(statement(sql`DELETE FROM events WHERE ${own}`))
  await writer.execute(statement(sql`DELETE FROM sessions WHERE ${own}`))
  await applyRetraction(writer, tables)
  await removeUsersFromRollups(writer, lostOf(tables), removal.number)
  // The number may be given again from here on: no set holds it any more.
  await writer.execute(statement(sql`DELETE FROM users WHERE ${own}`))
}
