/** The rollups of the users who leave for a new shard, counted there from their staged facts. */
import type { Connection } from '../../clickhouse/connection.js'
import { join, numberedName, sql, statement, uint32, type Sql } from '../../clickhouse/sql.js'
import { buildRecord } from '../../lib/records.js'
import { nameTables, type Facts, type RollupTables } from '../../model/rollup-table-sets.js'
import { ROLLUP_NAMES, ROLLUPS, type Rollup } from '../../model/rollups.js'
import { backfillRollups } from '../../rollups/backfill.js'
import { dropTableSets } from '../../rollups/materialized-views.js'
import { findPartition, getYear, type Month, type MonthOfFacts } from '../../rollups/months.js'
import { createStaged, nameStaged, type CopiedPartitions } from './staging.js'
import type { Transfer } from './transfer.js'

/** The tables in which some months are counted, of all relocations. */
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

/** Drops what an interrupted relocation has counted: it is not known which rows that includes. */
export async function emptyStagedRollups({ target, number }: Transfer): Promise<void> {
  for (const rollup of ROLLUPS) {
    const staged = nameStaged(number, rollup)
    await target.store.writer.execute(statement(sql`DROP TABLE IF EXISTS ${staged} SYNC`))
    await createStaged(target.store.writer, number, rollup.name)
  }
}

/** Counts all staged facts, as the loader would have. Nothing of them was counted before. */
export const stageAllRollups = async (transfer: Transfer): Promise<void> =>
  countMonths(transfer, await listMonths(transfer))

/** Counts the months whose facts were copied again. */
export async function stageRollups(transfer: Transfer, copied: CopiedPartitions): Promise<void> {
  const changed = new Set([...(copied.get('events') ?? []), ...(copied.get('sessions') ?? [])])
  if (changed.size === 0) return
  const present = await listMonths(transfer)
  const months = [...changed].map((month) => ({
    month,
    rows: present.find((one) => one.month === month)?.rows ?? 0,
  }))
  for (const rollup of ROLLUPS) await forgetMonths(transfer, rollup, [...changed])
  await countMonths(transfer, months)
}

/** Lists the months of the staged facts. */
async function listMonths({ target, number }: Transfer): Promise<readonly MonthOfFacts[]> {
  const { events, sessions } = nameFacts(number)
  const { rows } = await target.store.writer.query<MonthOfFacts>(
    statement(sql`
SELECT month, sum(month_rows) AS rows FROM (
  SELECT toYYYYMM(timestamp) AS month, count() AS month_rows FROM ${events} GROUP BY month
  UNION ALL
  SELECT toYYYYMM(start_at) AS month, count() FROM ${sessions} GROUP BY month
) GROUP BY month ORDER BY month`),
  )
  return rows
}

async function countMonths(transfer: Transfer, months: readonly MonthOfFacts[]): Promise<void> {
  const { number } = transfer
  const target = transfer.target.store.writer
  const draft = nameDraft(number)
  for (const some of batchMonths(months)) {
    await dropDraftRollups(target)
    const own = some.map(({ month }) => month)
    await backfillRollups(target, draft, {
      tables: nameFacts(number),
      rows: some.reduce((sum, { rows }) => sum + rows, 0),
      events: isOfMonths(sql`timestamp`, own),
      sessions: isOfMonths(sql`start_at`, own),
    })
    for (const rollup of ROLLUPS) {
      for (const partition of listPartitions(rollup, own)) {
        const from = draft.rollups[rollup.name]
        await target.execute(
          statement(
            sql`ALTER TABLE ${nameStaged(number, rollup)} ATTACH PARTITION ${partition} FROM ${from}`,
          ),
        )
      }
    }
  }
  await dropDraftRollups(target)
}

/** Months are counted together while they have few rows: each time takes dozens of statements. */
const BATCH_ROWS = 1_000_000

function batchMonths(months: readonly MonthOfFacts[]): readonly (readonly MonthOfFacts[])[] {
  const batches: MonthOfFacts[][] = []
  let rows = BATCH_ROWS
  for (const one of months) {
    rows += one.rows
    if (rows > BATCH_ROWS) {
      batches.push([])
      rows = one.rows
    }
    batches.at(-1)?.push(one)
  }
  return batches
}

/** Takes out of the staged rollups what was counted of some months. */
async function forgetMonths(
  { target, number }: Transfer,
  rollup: Rollup,
  months: readonly Month[],
): Promise<void> {
  const staged = nameStaged(number, rollup)
  await target.store.writer.execute(
    statement(sql`DELETE FROM ${staged} WHERE ${isOfMonths(rollup.dateColumn, months)}`),
  )
}

const isOfMonths = (date: Sql, months: readonly Month[]): Sql =>
  sql`toYYYYMM(${date}) IN (${join(months.map(uint32))})`

/** Lists the partitions of a rollup that have some of the months. */
const listPartitions = (rollup: Rollup, months: readonly Month[]): readonly Sql[] => {
  const found = new Map<Month, Sql>()
  for (const month of months) {
    const key = rollup.grain === 'day' ? month : getYear(month)
    found.set(key, findPartition(rollup, month).partition)
  }
  return [...found.values()]
}
