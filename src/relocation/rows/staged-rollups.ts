/** The rollups of the users who leave for a new shard, counted there from their staged facts. */
import type { Connection } from '../../clickhouse/connection.js'
import { numberedName, sql, statement, uint32, type Sql } from '../../clickhouse/sql.js'
import { buildRecord } from '../../lib/records.js'
import { nameTables, type Facts, type RollupTables } from '../../model/rollup-table-sets.js'
import { ROLLUP_NAMES, ROLLUPS, type Rollup } from '../../model/rollups.js'
import { backfillRollups } from '../../rollups/backfill.js'
import { dropTableSets } from '../../rollups/materialized-views.js'
import { findPartition, isOfMonth, type Month } from '../../rollups/months.js'
import { createStaged, nameStaged, type CopiedPartitions } from './staging.js'
import type { Transfer } from './transfers.js'

/** The tables in which one month is counted, of all relocations. */
const DRAFT_PREFIX = 'widen_[0-9]+_'

export const dropDraftRollups = (target: Connection): Promise<void> =>
  dropTableSets(target, DRAFT_PREFIX)

const nameDraft = (number: number): RollupTables => ({
  ...nameTables(`widen_${number}_`),
  // ATTACH PARTITION accepts no query parameter as the name of its source.
  rollups: buildRecord(ROLLUP_NAMES, (name) => numberedName('widen', number, name)),
})

const nameFacts = (number: number): Facts => ({
  events: nameStaged(number, { name: 'events' }),
  sessions: nameStaged(number, { name: 'sessions' }),
})

/** Drops what an interrupted relocation has counted: nothing says of which rows. */
export async function emptyStagedRollups({ target, number }: Transfer): Promise<void> {
  for (const rollup of ROLLUPS) {
    const staged = nameStaged(number, rollup)
    await target.store.writer.execute(statement(sql`DROP TABLE IF EXISTS ${staged} SYNC`))
    await createStaged(target.store.writer, number, rollup.name)
  }
}

/** Lists the months of which facts were copied. */
export const listCopiedMonths = (copied: CopiedPartitions): readonly Month[] =>
  [...new Set([...(copied.get('events') ?? []), ...(copied.get('sessions') ?? [])])].toSorted(
    (a, b) => a - b,
  )

/** Lists the months of the staged facts. */
export async function listStagedMonths({ target, number }: Transfer): Promise<readonly Month[]> {
  const { events, sessions } = nameFacts(number)
  const { rows } = await target.store.writer.query<{ month: Month }>(
    statement(sql`
SELECT DISTINCT month FROM (
  SELECT toUInt32(_partition_id) AS month FROM ${events} UNION ALL SELECT toUInt32(_partition_id) FROM ${sessions}
) ORDER BY month`),
  )
  return rows.map(({ month }) => month)
}

/** Counts the staged facts of some months, as the loader would have. What was counted of them before is dropped. */
export async function stageRollups(transfer: Transfer, months: readonly Month[]): Promise<void> {
  const { number } = transfer
  const target = transfer.target.store.writer
  const draft = nameDraft(number)
  for (const month of months) {
    await dropDraftRollups(target)
    await backfillRollups(target, draft, {
      tables: nameFacts(number),
      rows: await countEvents(target, nameFacts(number), month),
      events: isOfMonth(sql`timestamp`, month, undefined),
      sessions: isOfMonth(sql`start_at`, month, undefined),
    })
    for (const rollup of ROLLUPS) await replaceMonth(target, rollup, number, month, draft)
  }
  await dropDraftRollups(target)
}

async function countEvents(target: Connection, { events }: Facts, month: Month): Promise<number> {
  const { rows } = await target.query<{ events: number }>(
    statement(
      sql`SELECT count() AS events FROM ${events} WHERE ${isOfMonth(sql`timestamp`, month, undefined)}`,
    ),
  )
  return rows[0]?.events ?? 0
}

async function replaceMonth(
  target: Connection,
  rollup: Rollup,
  number: number,
  month: Month,
  { rollups }: RollupTables,
): Promise<void> {
  const staged = nameStaged(number, rollup)
  const { partition } = findPartition(rollup, month)
  const removal: Sql =
    rollup.grain === 'day'
      ? sql`ALTER TABLE ${staged} DROP PARTITION ${partition}`
      : sql`DELETE FROM ${staged} IN PARTITION ${partition} WHERE toYYYYMM(${rollup.dateColumn}) = ${uint32(month)}`
  await target.execute(statement(removal))
  await target.execute(
    statement(
      sql`ALTER TABLE ${staged} ATTACH PARTITION ${partition} FROM ${rollups[rollup.name]}`,
    ),
  )
}
