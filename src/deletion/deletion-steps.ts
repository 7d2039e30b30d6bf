/**
 * Finishes deletions, with the steps that delete users. Each step may be repeated, so an interrupted deletion
 * resumes after the last step that the journal records.
 */
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
import { listTemporaryTables, matchNames } from '../clickhouse/temporary-tables.js'
import type { FinishOptions } from '../ingest/loader/loader-context.js'
import { settleAll } from '../lib/settle.js'
import { nameTables, SET_TABLES, type RollupTables } from '../model/rollup-table-sets.js'
import { listKeyColumns, USER_ROLLUPS, writeOther, type Rollup } from '../model/rollups.js'
import { backfillRollups } from '../rollups/backfill.js'
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
  type Deletion,
} from './journal.js'
import {
  finishProjectDeletion,
  KEYS_END_MS,
  startMarkedDeletions,
} from './project-deletion-steps.js'
import { deleteInSteps, type DeletionWork } from './delete-in-steps.js'

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

/** Deletes users: the facts, their share of the rollups, and the users' numbers last. */
function finishUserDeletion(
  writer: Connection,
  deletion: Deletion,
  noticeMs: number | undefined,
): Promise<void> {
  const { number, users } = deletion
  // The number is in the names: a process that pauses until its lease expires finds that its tables no longer exist.
  const tables = nameTables(`removal_${number}_`)
  const work: DeletionWork = {
    hidden: { users },
    dropTables: () => dropDeletionTables(writer, tables),
    stage: () => stageDeletion(writer, deletion, tables),
    apply: (areStaged) => applyDeletion(writer, deletion, areStaged ? tables : undefined),
    recordStep: (step) => recordStep(writer, deletion, step),
    end: () => endDeletion(writer, deletion),
  }
  return deleteInSteps(writer, deletion, work, noticeMs)
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

/** @param tables what was staged; undefined if it is lost, and the rollups are built anew */
async function applyDeletion(
  writer: Connection,
  deletion: Deletion,
  tables: RollupTables | undefined,
): Promise<void> {
  const deleteFrom = (table: Sql): Promise<void> =>
    writer.execute(statement(sql`DELETE FROM ${table} WHERE ${isOwnRow(deletion)}`))
  // What they change was staged, so none reads what another one writes.
  await settleAll([
    deleteFrom(sql`events`),
    deleteFrom(sql`sessions`),
    ...(tables === undefined ? [] : [correctRollups(writer, deletion, tables)]),
  ])
  for (const table of USER_TABLES) await deleteFrom(table)
}

async function correctRollups(
  writer: Connection,
  { number }: Deletion,
  tables: RollupTables,
): Promise<void> {
  const groups = nameGroupsTable(tables)
  // A build that knew no pairs may have staged the deletion.
  await writer.execute(statement(sql`ALTER TABLE ${groups} ADD COLUMN IF NOT EXISTS other String`))
  await settleAll([
    applyRetraction(writer, tables),
    removeUsersFromRollups(writer, { stale: groups, generation: number }),
  ])
}
