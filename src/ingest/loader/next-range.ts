/** Chooses which rows of the stream the next load takes. */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement, uint64, type Sql } from '../../clickhouse/sql.js'
import { findAbandonedLoads } from './load-log.js'
import { isAfter, isBefore, nameRange, parseRange, type Position } from './load-source.js'
import { readCursor } from './stream.js'

/** The most that one load takes. A row that has more bytes is loaded alone. */
export interface LoadLimits {
  readonly rows: number
  /** The sum of the lengths of the lines. */
  readonly bytes: number
}

/** After a failed load the next one is smaller by this factor; after a load that succeeds, larger by it. */
export const SHRINK_FACTOR = 4

const MB = 1024 * 1024

/** Large enough that the fixed costs of a load do not matter, and small compared with memory. */
export const MAX_LOAD: LoadLimits = { rows: 250_000, bytes: 64 * MB }

/** The rows of the stream that are loaded next. */
export interface NextRange {
  /** The batch name of the range. */
  readonly batch: string
  readonly after: Position
  /** The sum of the lengths of its lines. */
  readonly bytes: number
  /** The most rows that it could have; fewer than usual after a load of these rows was abandoned. */
  readonly maxRows: number
}

/**
 * Finds the rows to load next, at least one and at most `limits`; undefined when no row waits. The caller holds the loader
 * lease, and no load is unfinished.
 *
 * While the rows of an abandoned load wait, ranges are as small as that load demands. Each load that finishes since lets the
 * next one grow by the factor by which failures shrink it: the cause was not in its rows, and a backlog of a crash is soon
 * loaded.
 */
export async function findNextRange(
  writer: Connection,
  limits: LoadLimits = MAX_LOAD,
): Promise<NextRange | undefined> {
  const after = await readCursor(writer)
  const abandoned = (await findAbandonedLoads(writer)).filter(({ batch }) =>
    isWaiting(batch, after),
  )
  const rows = Math.min(
    limits.rows,
    ...abandoned.map(({ nextRows, finishedSince }) => nextRows * SHRINK_FACTOR ** finishedSince),
  )
  const end = await findEnd(writer, after, { ...limits, rows })
  if (end === undefined) return undefined
  const { upTo, bytes } = end
  return { batch: nameRange({ after, upTo }), after, bytes, maxRows: rows }
}

/** Where a range ends, and the bytes up to there. */
interface End {
  readonly upTo: Position
  readonly bytes: number
}

/** Whether the batch is a range of the stream that ends after the cursor. */
function isWaiting(batch: string, cursor: Position): boolean {
  const range = parseRange(batch)
  return range !== undefined && isBefore(cursor, range.upTo)
}

/** The waiting rows; a blank line has another row number. */
const selectWaiting = (after: Position, columns: Sql): Sql =>
  sql`SELECT ${columns} FROM inbox WHERE batch = '' AND row = 0 AND ${isAfter(after)}`

const FROM_FIRST = sql`ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW`

/** Finds the end of the next range. Blocks are taken whole while they fit; a block that does not fit alone is cut. */
async function findEnd(
  writer: Connection,
  after: Position,
  limits: LoadLimits,
): Promise<End | undefined> {
  const fits = sql`lines <= ${uint64(limits.rows)} AND size <= ${uint64(limits.bytes)}`
  const { rows } = await writer.query<{ block: number; bytes: number; isWhole: boolean }>(
    statement(sql`
SELECT max(block) AS block, max(size) AS bytes, countIf(${fits}) > 0 AS isWhole
FROM (
  SELECT
    block, sum(block_lines) OVER so_far AS lines, sum(block_size) OVER so_far AS size, row_number() OVER so_far AS place
  FROM (
    SELECT block, count() AS block_lines, sum(bytes) AS block_size
    FROM (${selectWaiting(after, sql`_block_number AS block, bytes`)}) GROUP BY block
  )
  WINDOW so_far AS (ORDER BY block ${FROM_FIRST})
)
WHERE place = 1 OR (${fits})`),
  )
  const [last] = rows
  if (last === undefined || last.block === 0) return undefined
  const { block, bytes } = last
  return last.isWhole ? { upTo: { block, rows: 0 }, bytes } : cutBlock(writer, after, block, limits)
}

/** Finds how many waiting rows of a block fit into one load; at least one. */
async function cutBlock(
  writer: Connection,
  after: Position,
  block: number,
  limits: LoadLimits,
): Promise<End> {
  const { rows } = await writer.query<{ end: number; bytes: number; isWhole: boolean }>(
    statement(sql`
WITH lines = 1 OR (lines <= ${uint64(limits.rows)} AND size <= ${uint64(limits.bytes)}) AS fits
SELECT maxIf(block_row, fits) + 1 AS end, maxIf(size, fits) AS bytes, end > max(block_row) AS isWhole
FROM (
  SELECT block_row, row_number() OVER so_far AS lines, sum(bytes) OVER so_far AS size
  FROM (${selectWaiting(after, sql`_block_offset AS block_row, bytes`)} AND _block_number = ${uint64(block)})
  WINDOW so_far AS (ORDER BY block_row ${FROM_FIRST})
)`),
  )
  const [cut] = rows
  const isWhole = cut === undefined || cut.isWhole
  return {
    upTo: isWhole ? { block, rows: 0 } : { block: block - 1, rows: cut.end },
    bytes: cut?.bytes ?? 0,
  }
}
