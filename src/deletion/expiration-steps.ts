/**
 * The steps that delete the data of a project before a day. Each step may be repeated, so an interrupted expiration
 * resumes after the last step that its journal records.
 *
 * The days are hidden first, so no query sees them from then on. Events are deleted by their day, and sessions by the day on which they
 * began. What the rollups count before the day is
 * deleted with its rows. Only the month that is kept in part is computed: its counts lose what the deleted events
 * and sessions had added, and the users without any event left in it.
 */
import type { Connection } from '../clickhouse/connection.js'
import { INLINED, isOneOf } from '../clickhouse/temporary-tables.js'
import { join, sql, statement, string, uint64, type Sql } from '../clickhouse/sql.js'
import { LIVE, type RollupTables } from '../model/rollup-table-sets.js'
import {
  listKeyColumns,
  SUM_ROLLUPS,
  USER_ROLLUPS,
  writeOther,
  type Rollup,
} from '../model/rollups.js'
import { backfillRollups } from '../rollups/backfill.js'
import { applyRetraction, stageRetraction } from '../rollups/retract.js'
import {
  endExpiration,
  findUnfinishedExpirations,
  recordStep,
  renewExpiration,
  type Expiration,
} from './expiration-journal.js'
import {
  dropExpirationTables,
  nameExpirationTables,
  type ExpirationTables,
} from './expiration-tables.js'
import { STEP } from './journal.js'
import { USER_TABLES } from './delete-rows.js'
import { deleteInSteps, type DeletionWork } from './delete-in-steps.js'

/** How long an expiration takes others into account. */
interface ExpirationWaits {
  /** How long services know of a project what they read before. One that began later is left for later, and its days are hidden meanwhile. */
  readonly waitMs: number
  /** How long services take to notice a change; that of services if left out. */
  readonly noticeMs: number | undefined
}

/** Finishes the expirations of the journal. The caller holds the loader lease. */
export async function finishExpirations(
  writer: Connection,
  { waitMs, noticeMs }: ExpirationWaits,
): Promise<void> {
  for (const expiration of await findUnfinishedExpirations(writer)) {
    if (expiration.reached >= STEP.staged) await finishExpiration(writer, expiration, noticeMs)
    else if (expiration.age >= waitMs) {
      // Loads may have stored events of these days while it waited.
      await finishExpiration(writer, await renewExpiration(writer, expiration), noticeMs)
    }
  }
}

function finishExpiration(
  writer: Connection,
  expiration: Expiration,
  noticeMs: number | undefined,
): Promise<void> {
  const tables = nameExpirationTables(expiration)
  const work: DeletionWork = {
    hidden: { keptFrom: expiration.keptFrom },
    dropTables: () => dropExpirationTables(writer, tables),
    stage: () => stageExpiration(writer, expiration, tables),
    apply: async (areStaged) => {
      if (areStaged) await correctRollups(writer, expiration, tables)
      await deleteFacts(writer, expiration)
      if (areStaged) await deleteUsers(writer, expiration, tables)
      else await deleteUsersWithoutEvents(writer, expiration)
    },
    recordStep: (step) => recordStep(writer, expiration, step),
    end: () => endExpiration(writer, expiration),
  }
  return deleteInSteps(writer, expiration, work, noticeMs)
}

/** The month that is kept in part has a row in each of these. */
const MONTHLY_USERS = USER_ROLLUPS.filter(({ grain }) => grain === 'month')

const isOfProject = ({ projectId }: Expiration): Sql => sql`project_id = ${string(projectId)}`
const firstKeptDay = ({ keptFrom }: Expiration): Sql => sql`toDate(${string(keptFrom)})`
const startOfMonth = (expiration: Expiration): Sql =>
  sql`toStartOfMonth(${firstKeptDay(expiration)})`

/** Whether a row lies before the first kept day. */
const isExpired = (expiration: Expiration, time: Sql): Sql =>
  sql`${isOfProject(expiration)} AND ${time} < ${firstKeptDay(expiration)}`

/**
 * Whether the expiration has not ended when the statement begins. If this process was suspended, another may have finished it, and
 * counted old events since. For tables without the number of a load.
 */
const isUnfinished = ({ number }: Expiration): Sql => sql`
(SELECT max(step) FROM expirations WHERE expiration = ${uint64(number)}) < ${uint64(STEP.ended)}`

async function stageExpiration(
  writer: Connection,
  expiration: Expiration,
  { gone, kept, users, groups }: ExpirationTables,
): Promise<void> {
  const isOfMonth = (time: Sql): Sql => sql`${time} >= ${startOfMonth(expiration)}`
  const isGone = (time: Sql): Sql => sql`${isExpired(expiration, time)} AND ${isOfMonth(time)}`
  await backfillRollups(writer, gone, {
    events: isGone(sql`timestamp`),
    sessions: isGone(sql`start_at`),
  })
  await backfillRollups(writer, kept, {
    events: sql`${isOfProject(expiration)}
  AND timestamp >= ${firstKeptDay(expiration)} AND timestamp < addMonths(${startOfMonth(expiration)}, 1)
  AND user IN (SELECT user FROM events WHERE ${isGone(sql`timestamp`)})`,
    // Users are those of events.
    sessions: sql`false`,
  })
  await stageRetraction(writer, gone)
  const selectUsers = ({ rollups }: RollupTables, isOfGone: Sql): readonly Sql[] =>
    MONTHLY_USERS.map(
      (rollup) => sql`
    SELECT project_id, dimension, value, ${writeOther(rollup)} AS other, month, users, ${isOfGone} AS is_gone
    FROM ${rollups[rollup.name]}`,
    )
  const sides = [...selectUsers(gone, sql`true`), ...selectUsers(kept, sql`false`)]
  await writer.execute(
    statement(sql`
CREATE TABLE ${groups} ENGINE = MergeTree ORDER BY (project_id, dimension, value, other, month) AS
SELECT project_id, dimension, value, other, month, bitmapAndnot(gone_users, kept_users) AS all_users
FROM (
  SELECT
    project_id, dimension, value, other, month,
    groupBitmapMergeStateIf(users, is_gone) AS gone_users, groupBitmapMergeStateIf(users, NOT is_gone) AS kept_users
  FROM (${join(sides, sql` UNION ALL `)})
  GROUP BY ALL
)
WHERE bitmapCardinality(all_users) > 0`),
  )
  await writer.execute(
    statement(sql`
CREATE TABLE ${users} ENGINE = MergeTree ORDER BY user AS
SELECT user FROM events
WHERE ${isOfProject(expiration)} AND user IN (SELECT user FROM events WHERE ${isExpired(expiration, sql`timestamp`)})
GROUP BY user HAVING max(timestamp) < ${firstKeptDay(expiration)}`),
  )
}

async function deleteFacts(writer: Connection, expiration: Expiration): Promise<void> {
  for (const [table, time] of [
    [LIVE.sessions, sql`start_at`],
    [sql`events`, sql`timestamp`],
  ] as const) {
    // If this process was suspended, another may have finished the expiration, and loaded old events since.
    const isOwnRow = sql`${isExpired(expiration, time)} AND load < ${uint64(expiration.number)}`
    await writer.execute(statement(sql`DELETE FROM ${table} WHERE ${isOwnRow}`))
  }
}

/** Corrects the rollups, which no query of the project reads meanwhile. */
async function correctRollups(
  writer: Connection,
  expiration: Expiration,
  { gone, groups }: ExpirationTables,
): Promise<void> {
  await deleteOldRows(writer, expiration, USER_ROLLUPS)
  // A build that knew no pairs may have created the table.
  await writer.execute(statement(sql`ALTER TABLE ${groups} ADD COLUMN IF NOT EXISTS other String`))
  // All groups of the month are written again: a mutation must not name the table of those that change.
  const isAffected = sql`${isOfProject(expiration)} AND month = ${startOfMonth(expiration)}`
  for (const rollup of MONTHLY_USERS) {
    const users = LIVE.rollups[rollup.name]
    const key = join(listKeyColumns(rollup))
    // The groups of one dimension and those of pairs have different names.
    await writer.execute(
      statement(sql`
INSERT INTO ${users} (${key}, generation, users)
SELECT ${key}, ${uint64(expiration.number)}, bitmapAndnot(stored.all_users, gone.all_users)
FROM (
  SELECT ${key}, groupBitmapMergeState(users) AS all_users
  FROM ${users} WHERE ${isAffected} GROUP BY ALL
) AS stored
LEFT JOIN ${groups} AS gone USING (${key})`),
      { insert_deduplicate: 0 },
    )
    await writer.execute(
      statement(
        sql`DELETE FROM ${users} WHERE generation < ${uint64(expiration.number)} AND ${isAffected}`,
      ),
    )
  }
  await deleteOldRows(writer, expiration, SUM_ROLLUPS)
  await applyRetraction(writer, gone)
}

/** Deletes the days and months before those that are kept: one statement for each table, however many they are. */
async function deleteOldRows(
  writer: Connection,
  expiration: Expiration,
  rollups: readonly Rollup[],
): Promise<void> {
  for (const { name, grain, dateColumn } of rollups) {
    const firstKept = grain === 'day' ? firstKeptDay(expiration) : startOfMonth(expiration)
    const isOld = sql`${isOfProject(expiration)} AND ${dateColumn} < ${firstKept} AND ${isUnfinished(expiration)}`
    await writer.execute(statement(sql`DELETE FROM ${LIVE.rollups[name]} WHERE ${isOld}`), INLINED)
  }
}

/** Deletes the users last: they are found by their numbers. */
async function deleteUsers(
  writer: Connection,
  expiration: Expiration,
  { users }: ExpirationTables,
): Promise<void> {
  for (const table of USER_TABLES) {
    await writer.execute(
      statement(sql`
DELETE FROM ${table}
WHERE ${isOfProject(expiration)} AND load < ${uint64(expiration.number)}
  AND ${isOneOf(sql`user`, sql`user`, sql`FROM ${users}`)}`),
      INLINED,
    )
  }
}

/** Deletes the same users once the events are gone. */
async function deleteUsersWithoutEvents(writer: Connection, expiration: Expiration): Promise<void> {
  const hasEvents = isOneOf(sql`user`, sql`user`, sql`FROM events WHERE ${isOfProject(expiration)}`)
  for (const table of USER_TABLES) {
    await writer.execute(
      statement(sql`
DELETE FROM ${table}
WHERE ${isOfProject(expiration)} AND load < ${uint64(expiration.number)} AND NOT ${hasEvents}`),
      INLINED,
    )
  }
}
