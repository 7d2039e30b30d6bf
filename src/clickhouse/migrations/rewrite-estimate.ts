/** Estimates the work of pending migrations that takes long on large stores: columns that ClickHouse writes again. */
import type { Connection } from '../connection.js'
import { identifier, join, sql, statement, string, strings, uint64 } from '../sql.js'
import { PACKAGE_MIGRATIONS, readMigrations } from './migration-files.js'

/** The columns of one table that are written again, and what that takes. */
export interface Rewrite {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: number
  /** The room that is needed at most, in bytes: old and new files are both there for some minutes. */
  readonly bytes: number
  /** About how long it takes, by the rate at which this store reads such rows. */
  readonly seconds: number
}

interface Change {
  readonly column: string
  /** The new type, with a codec if it has one; undefined if only the values are written again. */
  readonly type?: string | undefined
}

const ALTER = /^ALTER TABLE (?<table>\w+)/m
const CHANGES =
  /MATERIALIZE COLUMN (?<made>\w+)|MODIFY COLUMN (?<typed>\w+) (?<type>[^\n]*?)(?:,?\n|$)|(?:UPDATE|,) (?<updated>\w+) = \k<updated>/g

/** Lists the columns that the statements of migrations write again, by table. */
export function listChanges(statements: readonly string[]): ReadonlyMap<string, readonly Change[]> {
  const changes = new Map<string, readonly Change[]>()
  for (const text of statements) {
    const table = ALTER.exec(text)?.groups?.['table']
    if (table === undefined) continue
    const found = [...text.matchAll(CHANGES)].flatMap(({ groups = {} }): Change[] => {
      const column = groups['made'] ?? groups['updated'] ?? groups['typed']
      return column === undefined ? [] : [{ column, type: groups['type'] }]
    })
    if (found.length > 0) changes.set(table, [...(changes.get(table) ?? []), ...found])
  }
  return changes
}

/** A new column of a part takes at most about this much, in bytes per row. */
const NEW_COLUMN_BYTES = 4
/** The rows that are read to learn the rate, and by how much writing a row takes longer than reading it. */
const SAMPLE_ROWS = 1_000_000
const WRITING_FACTOR = 3

/**
 * Estimates what the migrations of these names write again. Reads a sample of the rows, and changes nothing.
 *
 * @param folder the folder of the migrations; that of the package by default
 */
export async function estimateRewrites(
  connection: Connection,
  names: readonly string[],
  folder = PACKAGE_MIGRATIONS,
): Promise<readonly Rewrite[]> {
  const pending = (await readMigrations(folder)).filter(({ name }) => names.includes(name))
  const changes = listChanges(pending.flatMap(({ statements }) => statements))
  const rewrites: Rewrite[] = []
  for (const [table, ofTable] of changes) {
    const { rows: stored } = await connection.query<{ name: string; type: string }>(
      statement(
        sql`SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = ${string(table)}`,
      ),
    )
    // A codec alone is used by later writes.
    const isSame = ({ column, type }: Change): boolean =>
      stored.some(({ name, type: now }) => name === column && type?.startsWith(now) === true)
    const columns = [...new Set(ofTable.filter((one) => !isSame(one)).map(({ column }) => column))]
    const existing = columns.filter((column) => stored.some(({ name }) => name === column))
    if (stored.length > 0 && columns.length > 0) {
      rewrites.push(await estimateTable(connection, table, columns, existing))
    }
  }
  return rewrites.filter(({ rows }) => rows > 0)
}

async function estimateTable(
  connection: Connection,
  table: string,
  columns: readonly string[],
  existing: readonly string[],
): Promise<Rewrite> {
  const isPart = sql`active AND database = currentDatabase() AND table = ${string(table)}`
  const { rows: found } = await connection.query<{ rows: number; compact: number; wide: number }>(
    statement(sql`
SELECT
  (SELECT sum(rows) FROM system.parts WHERE ${isPart}) AS rows,
  (SELECT sum(bytes_on_disk) FROM system.parts WHERE ${isPart} AND part_type = 'Compact') AS compact,
  (SELECT sum(column_bytes_on_disk) FROM system.parts_columns
   WHERE ${isPart} AND part_type = 'Wide' AND column IN ${strings(existing)}) AS wide`),
  )
  const { rows = 0, compact = 0, wide = 0 } = found[0] ?? {}
  const began = performance.now()
  const read = existing.length > 0 ? existing : ['project_id']
  await connection.query(
    statement(
      sql`
        SELECT count()
        FROM (SELECT ${join(read.map(identifier))} FROM ${identifier(table)} LIMIT ${uint64(SAMPLE_ROWS)})
        WHERE NOT ignore(*)`,
    ),
  )
  const secondsPerRow =
    (performance.now() - began) / 1_000 / Math.max(1, Math.min(rows, SAMPLE_ROWS))
  return {
    table,
    columns,
    rows,
    bytes: compact + wide + rows * NEW_COLUMN_BYTES * (columns.length - existing.length),
    seconds: Math.ceil(rows * secondsPerRow * WRITING_FACTOR),
  }
}
