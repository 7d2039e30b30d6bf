/**
 * Finishes deletions, with the steps that delete users. Each step may be repeated, so an interrupted deletion
 * resumes after the last step that the journal records.
 */
import { withHidden } from '../changes/announce-change.js'
import type { Connection } from '../clickhouse/connection.js'
import {
  identifier,
  join,
  sql,
  statement,
  string,
  uint32s,
  uint64,
  type Sql,
} from '../clickhouse/sql.js'
import { findStagedTables } from '../clickhouse/replicas/staged-tables.js'
import { listTemporaryTables, matchNames } from '../clickhouse/temporary-tables.js'
import type { FinishOptions } from '../ingest/loader/loader-context.js'
import { settleAll } from '../lib/settle.js'
import { nameTables, SET_TABLES, type RollupTables } from '../model/rollup-table-sets.js'
import { listKeyColumns, USER_ROLLUPS, writeOther, type Rollup } from '../model/rollups.js'
import { backfillRollups } from '../rollups/backfill.js'
import { abandonRollups } from '../rollups/progress.js'
import { dropTableSets } from '../rollups/materialized-views.js'
import { removeUsersFromRollups } from '../rollups/remove-users.js'
import { applyRetraction, REST_TABLES, stageRetraction } from '../rollups/retract.js'
import { USER_TABLES } from './delete-rows.js'
import { finishExpirations } from './expiration-steps.js'
import { EXPIRATION_TABLES } from './expiration-tables.js'
import {
  endDeletion,
  findUnfinishedDeletions,
  isUserDeletion,
  recordStep,
  STEP,
  type Deletion,
} from './journal.js'
import {
  finishProjectDeletion,
  KEYS_END_MS,
  startMarkedDeletions,
} from './project-deletion-steps.js'

/**
 * Finishes expirations, and the deletions of the journal, in the order in which they were started. A project whose API keys ended a
 * moment ago is left for later, and so is one that other shards still have, and an expiration that has just begun. The caller holds the
 * loader lease.
 */
export async function finishDeletions(
  writer: Connection,
  { waitMs = KEYS_END_MS, noticeMs, except, followsHome, isElsewhere }: FinishOptions = {},
): Promise<void> {
  // First, because an expiration corrects counts, which must not come back after their project was deleted.
  await finishExpirations(writer, { waitMs, noticeMs })
  if (followsHome === true) await startMarkedDeletions(writer)
  for (const deletion of await findUnfinishedDeletions(writer)) {
    if (deletion.number === except) continue
    if (isUserDeletion(deletion)) await finishUserDeletion(writer, deletion, noticeMs)
    else await finishProjectDeletion(writer, deletion, waitMs, isElsewhere)
  }
  // Another replica may have finished what this one had begun.
  if (writer.replica !== undefined) await dropLeftTables(writer)
}

async function dropLeftTables(writer: Connection): Promise<void> {
  const left = await listTemporaryTables(writer, [DELETION_TABLES])
  const prefixes = left.flatMap(({ name }) => /^removal_\d+_(kept_)?/.exec(name)?.[0] ?? [])
  for (const prefix of new Set(prefixes)) await dropTableSets(writer, prefix, OTHER_TABLES)
}

/**
 * Deletes users. They are hidden first, so no query sees them from then on. Then go the facts, their share of the rollups, and the
 * users' numbers last.
 *
 * The share of the rollups is computed into tables of the deletion before anything is deleted. Every later
 * statement states the result rather than a change, so it may be repeated after a crash at any point.
 */
async function finishUserDeletion(
  writer: Connection,
  deletion: Deletion,
  noticeMs: number | undefined,
): Promise<void> {
  // The number is in the names: a process that pauses until its lease expires finds that its tables no longer exist.
  const tables = nameTables(`removal_${deletion.number}_`)
  const staged = findStagedTables(writer, deletion.number)
  const deleteRows = async (): Promise<void> => {
    if (deletion.reached < STEP.staged) {
      await dropDeletionTables(writer, tables)
      await stageDeletion(writer, deletion, tables)
      await staged.record()
      await recordStep(writer, deletion, STEP.staged)
    }
    if (deletion.reached < STEP.deleted) {
      if (await staged.areHere()) await applyDeletion(writer, deletion, tables)
      else await applyWithoutTables(writer, deletion)
      await recordStep(writer, deletion, STEP.deleted)
    }
  }
  const { projectId, users } = deletion
  await withHidden(writer, projectId, { users }, deleteRows, noticeMs)
  await staged.forget()
  await dropDeletionTables(writer, tables)
  await endDeletion(writer, deletion)
}

/** Whether a row belongs to the users. Later loads may have rows of other users, of a project that was created again. */
const isOwnRow = ({ number, projectId, users }: Deletion): Sql =>
  sql`project_id = ${string(projectId)} AND user IN ${uint32s(users)} AND load < ${uint64(number)}`

/** The table of the groups that count the users. Another version may have staged the deletion, so the name stays. */
const GROUPS_TABLE = 'lost'
const nameGroupsTable = ({ prefix }: RollupTables): Sql => identifier(`${prefix}${GROUPS_TABLE}`)

/** The names of their tables that are not part of a set of rollups, without the prefix. */
const OTHER_TABLES = [GROUPS_TABLE, ...REST_TABLES, ...Object.values(EXPIRATION_TABLES)]

/** The tables of all deletions and expirations, without the views between them. */
export const DELETION_TABLES = matchNames('removal_[0-9]+_(kept_)?', [
  ...SET_TABLES,
  ...OTHER_TABLES,
])

const dropDeletionTables = (writer: Connection, { prefix }: RollupTables): Promise<void> =>
  dropTableSets(writer, prefix, [GROUPS_TABLE, ...REST_TABLES])

async function stageDeletion(
  writer: Connection,
  deletion: Deletion,
  tables: RollupTables,
): Promise<void> {
  const own = isOwnRow(deletion)
  await backfillRollups(writer, tables, { events: own, sessions: own })
  await stageRetraction(writer, tables)
  const selectGroups = (rollup: Rollup): Sql => sql`
SELECT
  ${string(rollup.frequency)} AS grain, project_id, dimension, value, ${writeOther(rollup)} AS other, ${rollup.dateColumn} AS day,
  arrayJoin(bitmapToArray(groupBitmapMergeState(users))) AS user
FROM ${tables.rollups[rollup.name]} GROUP BY ${join(listKeyColumns(rollup))}`
  await writer.execute(
    statement(sql`
CREATE TABLE ${nameGroupsTable(tables)} ENGINE = MergeTree ORDER BY (grain, project_id, dimension, value, other, day) AS
${join(USER_ROLLUPS.map(selectGroups), sql` UNION ALL `)}`),
  )
}

async function applyDeletion(
  writer: Connection,
  deletion: Deletion,
  tables: RollupTables,
): Promise<void> {
  const own = isOwnRow(deletion)
  const groups = nameGroupsTable(tables)
  // A build that knew no pairs may have staged the deletion.
  await writer.execute(statement(sql`ALTER TABLE ${groups} ADD COLUMN IF NOT EXISTS other String`))
  // What they change was staged, so none reads what another one writes.
  await settleAll([
    writer.execute(statement(sql`DELETE FROM events WHERE ${own}`)),
    writer.execute(statement(sql`DELETE FROM sessions WHERE ${own}`)),
    applyRetraction(writer, tables),
    removeUsersFromRollups(writer, { stale: groups, generation: deletion.number }),
  ])
  for (const table of USER_TABLES) {
    await writer.execute(statement(sql`DELETE FROM ${table} WHERE ${own}`))
  }
}

/**
 * Deletes users whose share of the rollups is lost with the replica that had computed it, and may have subtracted a part of it. The
 * rollups are built anew from what is left.
 */
async function applyWithoutTables(writer: Connection, deletion: Deletion): Promise<void> {
  await abandonRollups(writer)
  for (const table of [sql`events`, sql`sessions`, ...USER_TABLES]) {
    await writer.execute(statement(sql`DELETE FROM ${table} WHERE ${isOwnRow(deletion)}`))
  }
}
