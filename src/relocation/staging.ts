/** The staged tables of a move, at its target: no query reads them until their parts are attached to the tables of the store. */
import type { Connection, Settings } from '../clickhouse/connection.js'
import { join, numberedName, sql, statement, string, type Sql } from '../clickhouse/sql.js'
import { dropTables, matchNames } from '../clickhouse/temporary-tables.js'
import { IN_ORDER, isInPartition, listDifferences, namePartition, readDigests } from './digests.js'
import type { Move } from './journal.js'
import { MOVED_TABLES, nameTable, type MovedTable, type RowSource } from './moved-tables.js'

/** The staged tables of all moves. */
export const STAGED_TABLES = matchNames('move_[0-9]+_', [
  ...MOVED_TABLES.map(({ name }) => name),
  'loads',
])

const nameStaged = ({ number }: Move, { name }: MovedTable): Sql =>
  numberedName('move', number, name)

/** The rows that are sent were never sent before, though they may be equal to earlier ones. */
const INSERT_SETTINGS: Settings = { async_insert: 0, insert_deduplicate: 0 }

/** The rows of the project at the source, with the numbers that they get at the target. */
const fromSource = (moved: MovedTable, { projectId, base }: Move): RowSource => ({
  table: nameTable(moved),
  projectId,
  base,
})
const fromStaged = (moved: MovedTable, move: Move): RowSource => ({
  table: nameStaged(move, moved),
  projectId: move.projectId,
  base: 0,
})
const fromTarget = (moved: MovedTable, { projectId }: Move): RowSource => ({
  table: nameTable(moved),
  projectId,
  base: 0,
})

/**
 * Copies what the staged tables lack, or have otherwise than the source, through this process. May be repeated.
 *
 * @param onCopied is called after each table with copied partitions
 * @returns how many partitions were copied
 */
export async function stageRows(
  source: Connection,
  target: Connection,
  move: Move,
  onCopied: (table: string, partitions: number) => void = () => undefined,
): Promise<number> {
  let copied = 0
  for (const moved of MOVED_TABLES) {
    const staged = nameStaged(move, moved)
    await target.execute(
      statement(sql`CREATE TABLE IF NOT EXISTS ${staged} AS ${nameTable(moved)}`),
    )
    const parts = listDifferences(
      await readDigests(source, moved, fromSource(moved, move)),
      await readDigests(target, moved, fromStaged(moved, move)),
    )
    for (const part of parts) await copyPartition(source, target, move, moved, part)
    if (parts.length > 0) onCopied(moved.name, parts.length)
    copied += parts.length
  }
  return copied
}

async function copyPartition(
  source: Connection,
  target: Connection,
  move: Move,
  moved: MovedTable,
  part: number,
): Promise<void> {
  const staged = nameStaged(move, moved)
  await target.execute(
    statement(sql`ALTER TABLE ${staged} DROP PARTITION ${namePartition(moved, part)}`),
  )
  const rows = moved.select(fromSource(moved, move), isInPartition(moved, part))
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
export async function attachRows(target: Connection, move: Move): Promise<void> {
  for (const moved of MOVED_TABLES) {
    const staged = await readDigests(target, moved, fromStaged(moved, move))
    const there = await readDigests(target, moved, fromTarget(moved, move))
    for (const part of listDifferences(staged, there)) {
      const [table, partition] = [nameTable(moved), namePartition(moved, part)]
      if (there.has(part)) await deletePartition(target, move, moved, part)
      await target.execute(
        statement(
          sql`ALTER TABLE ${table} ATTACH PARTITION ${partition} FROM ${nameStaged(move, moved)}`,
        ),
      )
    }
  }
}

/** Deletes the rows of the project from a partition. Views do not hear of it. */
const deletePartition = (
  target: Connection,
  { projectId }: Move,
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

/** Deletes the rows of a project from a store. The caller holds the loader lease. */
export async function deleteRows(writer: Connection, projectId: string): Promise<void> {
  for (const moved of MOVED_TABLES) {
    const isOwn = sql`project_id = ${string(projectId)}`
    await writer.execute(statement(sql`DELETE FROM ${nameTable(moved)} WHERE ${isOwn}`))
  }
}

/** A partition of a table whose rows differ between source and target. */
export interface Difference {
  readonly table: string
  readonly part: number
}

/** Finds where the rows of the project at the target differ from those at the source. */
export async function findDifferences(
  source: Connection,
  target: Connection,
  move: Move,
): Promise<readonly Difference[]> {
  const differences: Difference[] = []
  for (const moved of MOVED_TABLES) {
    const parts = listDifferences(
      await readDigests(source, moved, fromSource(moved, move)),
      await readDigests(target, moved, fromTarget(moved, move)),
    )
    differences.push(...parts.map((part) => ({ table: moved.name, part })))
  }
  return differences
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

/** Drops the staged tables of all moves: one at a time uses them. */
export const dropStagedTables = (target: Connection): Promise<void> =>
  dropTables(target, STAGED_TABLES)
