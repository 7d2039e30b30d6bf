/** The staged tables of a transfer, at its target: no query reads them until their parts are attached to the tables of the store. */
import { forgetChanges } from '../../changes/left-changes.js'
import type { Connection, Settings } from '../../clickhouse/connection.js'
import { underLease } from '../../clickhouse/lease/lease.js'
import { createLike } from '../../clickhouse/replicas/create-like.js'
import { join, numberedName, sql, statement, string, TRUE, type Sql } from '../../clickhouse/sql.js'
import { dropTables, matchNames } from '../../clickhouse/temporary-tables.js'
import type { Shard } from '../../cluster/cluster.js'
import { withLoaderLease } from '../../ingest/loader/with-loader-lease.js'
import { LIVE } from '../../model/rollup-table-sets.js'
import { createViews } from '../../rollups/materialized-views.js'
import { LEASE_TIMEOUT_MS } from '../../rollups/process-months.js'
import {
  IN_ORDER,
  isInPartition,
  listDifferences,
  namePartition,
  readDigests,
  type Digests,
} from './digests.js'
import { MOVED_TABLES, nameTable, type MovedTable, type RowSource } from './moved-tables.js'
import type { Transfer } from './transfer.js'

/** The staged tables of all relocations. */
const STAGED_TABLES = matchNames('move_[0-9]+_', [...MOVED_TABLES.map(({ name }) => name), 'loads'])

/** Names the staged table of a relocation. */
export const nameStaged = (number: number, { name }: Pick<MovedTable, 'name'>): Sql =>
  numberedName('move', number, name)

/** No row is sent twice, but rows may be equal: they are no duplicates. */
const INSERT_SETTINGS: Settings = { async_insert: 0, insert_deduplicate: 0 }

/** The rows of the project at the source, with the numbers that they get at the target. */
const fromSource = (moved: MovedTable, { projectId, base, isCopied }: Transfer): RowSource => ({
  table: nameTable(moved),
  projectId,
  base,
  isMeant: isCopied(moved),
})
const fromStaged = (moved: MovedTable, { number, projectId }: Transfer): RowSource => ({
  table: nameStaged(number, moved),
  projectId,
  base: 0,
  isMeant: TRUE,
})
const fromTarget = (moved: MovedTable, { projectId }: Transfer): RowSource => ({
  table: nameTable(moved),
  projectId,
  base: 0,
  isMeant: TRUE,
})

/** Reads digests of rows of a transfer at one of its two shards. */
const readKnown = (
  transfer: Transfer,
  shard: Shard,
  moved: MovedTable,
  rows: RowSource,
): Promise<Digests> => {
  const { query } = statement(rows.table)
  // Each target gets other rows of the same table.
  const key = `${shard.name} ${query} for ${transfer.target.name}`
  return readDigests(shard.store.writer, moved, rows, { known: transfer.known, key })
}
const readSource = (transfer: Transfer, moved: MovedTable): Promise<Digests> =>
  readKnown(transfer, transfer.source, moved, fromSource(moved, transfer))
const readStaged = (transfer: Transfer, moved: MovedTable): Promise<Digests> =>
  readKnown(transfer, transfer.target, moved, fromStaged(moved, transfer))
const readTarget = (transfer: Transfer, moved: MovedTable): Promise<Digests> =>
  readKnown(transfer, transfer.target, moved, fromTarget(moved, transfer))

/** Partitions that were copied, by their table. */
export type CopiedPartitions = ReadonlyMap<MovedTable['name'], readonly number[]>

/** Copies what the staged tables lack, or have otherwise than the source, through this process. May be repeated. */
export async function stageRows(transfer: Transfer): Promise<CopiedPartitions> {
  const source = transfer.source.store.writer
  const target = transfer.target.store.writer
  const copied = new Map<MovedTable['name'], readonly number[]>()
  for (const moved of transfer.copied) {
    await createStaged(target, transfer.number, moved.name)
    const parts = listDifferences(
      await readSource(transfer, moved),
      await readStaged(transfer, moved),
    )
    for (const part of parts) await copyPartition(source, target, transfer, moved, part)
    if (parts.length > 0) copied.set(moved.name, parts)
  }
  return copied
}

/** Creates a staged table at the target. */
export const createStaged = (
  target: Connection,
  number: number,
  name: MovedTable['name'],
): Promise<void> =>
  createLike(target, nameStaged(number, { name }), nameTable({ name }), { ifNotExists: true })

async function copyPartition(
  source: Connection,
  target: Connection,
  transfer: Transfer,
  moved: MovedTable,
  part: number,
): Promise<void> {
  const staged = nameStaged(transfer.number, moved)
  await target.execute(
    statement(sql`ALTER TABLE ${staged} DROP PARTITION ${namePartition(moved, part)}`),
  )
  const rows = moved.select(fromSource(moved, transfer), isInPartition(moved, part))
  const insert = statement(sql`INSERT INTO ${staged} (${join(moved.columns)}) FORMAT Native`)
  await source.download(
    statement(sql`${rows} FORMAT Native`),
    (bytes) => target.upload(insert, bytes, INSERT_SETTINGS),
    IN_ORDER,
  )
}

/**
 * Attaches the staged rows to the tables of the target. Rows that an interrupted attachment left are deleted first. The
 * caller holds the leases `rollups` and `loader` of the target.
 */
export async function attachRows(transfer: Transfer): Promise<void> {
  const target = transfer.target.store.writer
  for (const moved of transfer.staged) {
    const staged = await readStaged(transfer, moved)
    const there = await readTarget(transfer, moved)
    for (const part of listDifferences(staged, there)) {
      const [table, partition] = [nameTable(moved), namePartition(moved, part)]
      if (there.has(part)) await deletePartition(target, transfer, moved, part)
      await target.execute(
        statement(
          sql`ALTER TABLE ${table} ATTACH PARTITION ${partition} FROM ${nameStaged(transfer.number, moved)}`,
        ),
      )
    }
  }
  // The first project with pairs brings their views along.
  await createViews(transfer.target.store.admin, LIVE)
}

/** Deletes the rows of the project from a partition. Views do not hear of it. */
const deletePartition = (
  target: Connection,
  { projectId }: Transfer,
  moved: MovedTable,
  part: number,
): Promise<void> => {
  const partition =
    moved.partition === undefined ? sql`` : sql` IN PARTITION ${namePartition(moved, part)}`
  return target.execute(
    statement(
      sql`DELETE FROM ${nameTable(moved)}${partition} WHERE project_id = ${string(projectId)}`,
    ),
  )
}

/**
 * Deletes the rows of a project from a store. No rebuild runs meanwhile, which would bring back what it counted before.
 *
 * @param finish finishes what was interrupted there
 */
export const removeProject = (
  { store: { writer } }: Shard,
  projectId: string,
  finish: (fenced: Connection) => Promise<void>,
): Promise<void> =>
  underLease(
    writer,
    'rollups',
    (fenced) =>
      withLoaderLease(fenced, async (holder) => {
        await finish(holder)
        for (const moved of MOVED_TABLES) {
          const isOwn = sql`project_id = ${string(projectId)}`
          await holder.execute(statement(sql`DELETE FROM ${nameTable(moved)} WHERE ${isOwn}`))
        }
        await forgetChanges(holder, projectId)
      }),
    { waitMs: LEASE_TIMEOUT_MS },
  )

/**
 * Checks that the target has the copied rows that the source has, and what was counted from them.
 *
 * @throws Error that names a partition which differs
 */
export async function requireSame(transfer: Transfer): Promise<void> {
  const { source, target, copied, staged } = transfer
  for (const moved of staged) {
    const [part] = listDifferences(
      await (copied.includes(moved) ? readSource : readStaged)(transfer, moved),
      await readTarget(transfer, moved),
    )
    if (part === undefined) continue
    throw new Error(
      `partition ${part} of ${moved.name} differs on ${target.name} from ${source.name}`,
    )
  }
}

/** Returns whether a store has rows of a project in any of the tables. */
export async function hasRows(connection: Connection, projectId: string): Promise<boolean> {
  const any = MOVED_TABLES.map(
    (moved) =>
      sql`(SELECT 1 FROM ${nameTable(moved)} WHERE project_id = ${string(projectId)} LIMIT 1)`,
  )
  const { rows } = await connection.query(
    statement(sql`SELECT 1 FROM (${join(any, sql` UNION ALL `)})`),
  )
  return rows.length > 0
}

/** Drops the staged tables of all relocations: one at a time uses them. */
export const dropStagedTables = (target: Connection): Promise<void> =>
  dropTables(target, STAGED_TABLES)
