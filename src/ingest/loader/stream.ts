/** The stream: the rows of the inbox that belong to no batch. They are loaded in the order of their blocks. */
import type { Connection } from '../../clickhouse/connection.js'
import { isClickHouseError, isDiskFull } from '../../clickhouse/errors.js'
import { join, sql, statement, string, uint64 } from '../../clickhouse/sql.js'
import { isAfter, type Position } from './load-source.js'
import { readNextNumber } from './load-log.js'

const STREAM = sql`'inbox'`

/** The position before the first block. */
const START: Position = { block: 0, rows: 0 }

/** Blocks are numbered in the order in which they become visible, so no block appears below the cursor later. */
const SELECT_BLOCKS = sql`SELECT _part AS part, _block_number AS block, row FROM inbox WHERE batch = ''`

/** The parts that one statement drops. Each takes up to 20 ms, because ClickHouse writes an empty part in its place. */
const MAX_DROPS = 100

/** Reads up to where the stream is loaded; block 0 before the first load. */
export async function readCursor(writer: Connection): Promise<Position> {
  const { rows } = await writer.query<Position>(
    statement(
      sql`SELECT argMax(block, load) AS block, argMax(rows, load) AS rows FROM inbox_cursor WHERE stream = ${STREAM}`,
    ),
  )
  return rows[0] ?? START
}

/** The rows of the stream that wait to be loaded. */
export interface WaitingRows {
  readonly rows: number
  /** Milliseconds since the oldest of them arrived, by the clock of the store; 0 without rows. */
  readonly oldestMs: number
  /** When that one arrived, in milliseconds since 1970, by the clock of the process that received it; 0 without rows. */
  readonly oldestAt: number
}

/** Counts the rows of the stream that wait to be loaded. An idle service sends no statement more often, so it has to be cheap. */
export async function countWaitingRows(connection: Connection): Promise<WaitingRows> {
  const { rows } = await connection.query<{ rows: number; oldestAt: number; now: number }>(
    statement(sql`
SELECT
  count() AS rows,
  toUnixTimestamp64Milli(min(received_at)) AS oldestAt,
  toUnixTimestamp64Milli(now64(3)) AS now
FROM inbox
WHERE batch = '' AND row = 0
  AND _block_number > (SELECT argMax(block, load) FROM inbox_cursor WHERE stream = ${STREAM})`),
    { settings: { max_threads: 1 } },
  )
  const [found] = rows
  if (found === undefined || found.rows === 0) return { rows: 0, oldestMs: 0, oldestAt: 0 }
  const { oldestAt, now } = found
  return { rows: found.rows, oldestMs: Math.max(0, now - oldestAt), oldestAt }
}

/** Finds the number of the last visible block; 0 when the inbox has none. */
export async function findLastBlock(writer: Connection): Promise<number> {
  const { rows } = await writer.query<{ last: number }>(
    statement(sql`SELECT max(block) AS last FROM (${SELECT_BLOCKS})`),
  )
  return rows[0]?.last ?? 0
}

/** Records that the stream is loaded up to a position. May be repeated. */
export const moveCursor = (
  writer: Connection,
  { block, rows }: Position,
  load: number,
): Promise<void> =>
  writer.execute(
    statement(
      sql`
        INSERT INTO inbox_cursor (stream, block, rows, load)
        SELECT ${STREAM}, ${uint64(block)}, ${uint64(rows)}, ${uint64(load)}`,
    ),
    { insert_deduplication_token: `load-${load}-cursor` },
  )

/**
 * Drops loaded parts. If unloaded rows are waiting, it drops one batch of parts only, so that it does not delay their load.
 */
export async function dropLoadedParts(writer: Connection): Promise<void> {
  while (await dropSomeParts(writer)) {
    if ((await countWaitingRows(writer)).rows > 0) return
  }
}

/**
 * Drops at most `MAX_DROPS` loaded parts, the oldest first; returns whether there are more. When ClickHouse starts, it
 * continues the block numbers from the highest number in the table. So before the last block is dropped, a blank line is
 * inserted to keep the count.
 */
async function dropSomeParts(writer: Connection): Promise<boolean> {
  const { block } = await readCursor(writer)
  const parts = await listParts(writer)
  const loaded = parts.filter(({ last }) => last <= block)
  if (loaded.length === 0) return false
  const dropped = loaded.slice(0, MAX_DROPS)
  if (dropped.length === parts.length) {
    try {
      await insertBlankLine(writer)
    } catch (error) {
      // The disk may be full: the part with the last block stays, the others make room.
      if (isDiskFull(error) && dropped.length > 1) await dropParts(writer, dropped.slice(0, -1))
      throw error
    }
  }
  try {
    await dropParts(writer, dropped)
  } catch (error) {
    // ClickHouse has merged the part in the meantime: its rows are in another part.
    if (!isClickHouseError(error, 'NO_SUCH_DATA_PART')) throw error
    return true
  }
  return dropped.length < loaded.length
}

/**
 * Resets the cursor if the inbox was emptied by hand, after which block numbers may start from 1 again.
 * The caller holds the loader lease, and no load is unfinished.
 */
export async function repairCursor(writer: Connection): Promise<void> {
  const { block, rows } = await readCursor(writer)
  const isAhead = async (): Promise<boolean> =>
    (await listParts(writer)).some(({ last }) => last > block)
  if (block + rows === 0 || (await isAhead())) return
  await insertBlankLine(writer)
  if (!(await isAhead())) await moveCursor(writer, START, await readNextNumber(writer))
}

/** Moves the cursor to the start of an inbox that was restored: its blocks have new numbers, and none of them is loaded. */
export const restartStream = async (writer: Connection): Promise<void> =>
  moveCursor(writer, START, await readNextNumber(writer))

/** Returns whether the inbox has rows of the stream that are loaded already. */
export async function hasLoadedRows(writer: Connection): Promise<boolean> {
  const cursor = await readCursor(writer)
  const { rows } = await writer.query(
    statement(
      sql`SELECT 1 FROM inbox WHERE batch = '' AND row = 0 AND NOT (${isAfter(cursor)}) LIMIT 1`,
    ),
  )
  return rows.length > 0
}

/** Inserts a blank line. Its row number is 1, and rows of the stream have 0, so it never counts as waiting. */
const insertBlankLine = (writer: Connection): Promise<void> =>
  writer.execute(statement(sql`INSERT INTO inbox (row, line) SELECT 1, ''`))

async function dropParts(writer: Connection, parts: readonly Part[]): Promise<void> {
  const drops = parts.map(({ part }) => sql`DROP PART ${string(part)}`)
  await writer.execute(statement(sql`ALTER TABLE inbox ${join(drops)}`))
}

/** A data part of the table `inbox`. */
interface Part {
  readonly part: string
  /** The highest block number of its rows. */
  readonly last: number
}

const listParts = async (writer: Connection): Promise<readonly Part[]> =>
  (
    await writer.query<Part>(
      statement(
        sql`SELECT part, max(block) AS last FROM (${SELECT_BLOCKS}) GROUP BY part ORDER BY last`,
      ),
    )
  ).rows
