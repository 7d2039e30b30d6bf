/**
 * The stream: the rows of the inbox that belong to no batch. The table `inbox_cursor` has the stretches of it that are loaded
 * and still in the inbox; all other rows wait.
 */
import type { Connection } from '../../clickhouse/connection.js'
import { isClickHouseError, isDiskFull } from '../../clickhouse/errors.js'
import { join, sql, statement, string, uint64 } from '../../clickhouse/sql.js'
import {
  findStart,
  isWithin,
  joinStretches,
  NO_STRETCHES,
  passStretches,
  POSITION,
  type StretchArrays,
  type Stretches,
} from './load-source.js'
import { readNextNumber } from './load-log.js'

const STREAM = sql`'inbox'`

/** What is loaded: the record of the last load. */
export const LOADED: StretchArrays = {
  starts: sql`(SELECT argMax(starts, load) FROM inbox_cursor WHERE stream = ${STREAM})`,
  ends: sql`(SELECT argMax(ends, load) FROM inbox_cursor WHERE stream = ${STREAM})`,
}

/** Whether a row of the inbox is one of the stream, and not the blank line of `insertBlankLine`. */
const IS_OF_STREAM = sql`batch = '' AND (row = 0 OR bytes > 0)`

/** Whether a row of the inbox is one of the stream that waits to be loaded. */
export const IS_WAITING = sql`${IS_OF_STREAM} AND NOT ${isWithin(POSITION, LOADED)}`

/** The parts that one statement drops. Each takes up to 20 ms, because ClickHouse writes an empty part in its place. */
const MAX_DROPS = 100

/** The rows of the stream that wait to be loaded. */
export interface WaitingRows {
  readonly rows: number
  /** Milliseconds since the oldest of them arrived, by the clock of the store; 0 without rows. */
  readonly oldestMs: number
  /** When that one arrived, in milliseconds since 1970, by the clock of the process that received it; 0 without rows. */
  readonly oldestAt: number
}

/** The account for queries may read the numbers of blocks only, so a block of which some rows are loaded counts as a whole. */
const LAST_OF_BLOCK = sql`(${findStart(sql`_block_number`)} + 4294967295)`

/** Counts the rows of the stream that wait to be loaded. An idle service sends no statement more often, so it has to be cheap. */
export async function countWaitingRows(connection: Connection): Promise<WaitingRows> {
  const { rows } = await connection.query<{ rows: number; oldestAt: number; now: number }>(
    statement(sql`
SELECT
  count() AS rows,
  toUnixTimestamp64Milli(min(received_at)) AS oldestAt,
  toUnixTimestamp64Milli(now64(3)) AS now
FROM inbox
WHERE batch = '' AND row = 0 AND NOT ${isWithin(LAST_OF_BLOCK, LOADED)}`),
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
    statement(sql`SELECT max(_block_number) AS last FROM inbox WHERE batch = ''`),
  )
  return rows[0]?.last ?? 0
}

/**
 * Records that a load has loaded its stretches, which all become loaded at once. Earlier blocks that have left the inbox are
 * forgotten. May be repeated.
 */
export async function recordStretches(
  writer: Connection,
  load: number,
  loaded: Stretches,
): Promise<void> {
  const own = passStretches(loaded)
  const { starts, ends } = joinStretches(sql`stretches`)
  await writer.execute(
    statement(sql`
INSERT INTO inbox_cursor (stream, load, starts, ends)
SELECT ${STREAM}, ${uint64(load)}, ${starts}, ${ends}
FROM (
  SELECT arrayConcat(groupArray((start, end)), arrayZip(${own.starts}, ${own.ends})) AS stretches
  FROM (
    -- Loads take the rows of a block from the first one on.
    SELECT
      ${findStart(sql`block`)} AS start,
      if(min(is_loaded), ${findStart(sql`block + 1`)}, maxIf(position, is_loaded) + 1) AS end
    FROM (
      SELECT
        _block_number AS block, ${POSITION} AS position,
        ${isWithin(POSITION, LOADED)} AND NOT ${isWithin(POSITION, own)} AS is_loaded
      FROM inbox WHERE ${IS_OF_STREAM}
    )
    GROUP BY block
    HAVING max(is_loaded)
  )
)`),
    { insert_deduplication_token: `load-${load}-cursor` },
  )
}

/**
 * Drops loaded parts. If unloaded rows are waiting, it drops one batch of parts only, so that it does not delay their load.
 */
export async function dropLoadedParts(writer: Connection): Promise<void> {
  while (await dropSomeParts(writer)) {
    if ((await countWaitingRows(writer)).rows > 0) return
  }
}

/**
 * Drops at most `MAX_DROPS` loaded parts, the oldest first; returns whether there are more. When a plain table is opened,
 * ClickHouse continues the block numbers from the highest number in it. So the part with that number stays until a blank line
 * with a higher one is inserted.
 */
async function dropSomeParts(writer: Connection): Promise<boolean> {
  const parts = await listParts(writer)
  const newest = parts.at(-1)
  const loaded = parts.filter((part) => part.isLoaded && (part !== newest || part.hasRows))
  if (loaded.length === 0) return false
  const dropped = loaded.slice(0, MAX_DROPS)
  if (dropped.at(-1) === newest) {
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
 * Forgets the loaded blocks that have left the inbox if it was emptied by hand, after which block numbers may start from 1
 * again. The caller holds the loader lease, and no load is unfinished.
 */
export async function forgetLostBlocks(writer: Connection): Promise<void> {
  const isAhead = async (): Promise<boolean> => {
    const { rows } = await writer.query(
      statement(
        sql`
SELECT 1 FROM inbox WHERE batch = ''
HAVING max(_block_number) >= bitShiftRight(${LOADED.ends}[-1], 32)`,
      ),
    )
    return rows.length > 0
  }
  if (await isAhead()) return
  await insertBlankLine(writer)
  if (await isAhead()) return
  await recordStretches(writer, await readNextNumber(writer), NO_STRETCHES)
}

/** Begins with the first block of an inbox that was restored: its blocks have new numbers, and none of them is loaded. */
export const restartStream = async (writer: Connection): Promise<void> =>
  // A backup of an earlier version may have other columns.
  writer.execute(
    statement(
      sql`INSERT INTO inbox_cursor (stream, load) SELECT ${STREAM}, ${uint64(await readNextNumber(writer))}`,
    ),
  )

/** Returns whether the inbox has rows of the stream that are loaded already. */
export async function hasLoadedRows(writer: Connection): Promise<boolean> {
  const { rows } = await writer.query(
    statement(
      sql`SELECT 1 FROM inbox WHERE ${IS_OF_STREAM} AND ${isWithin(POSITION, LOADED)} LIMIT 1`,
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

/** A data part of the table `inbox`, with rows of no batch. */
interface Part {
  readonly part: string
  /** Whether it has rows of the stream, and not only blank lines. */
  readonly hasRows: boolean
  /** Whether none of its rows waits. */
  readonly isLoaded: boolean
}

/** Lists the parts, that with the highest block number last. */
const listParts = async (writer: Connection): Promise<readonly Part[]> =>
  (
    await writer.query<Part>(
      statement(
        sql`
SELECT
  _part AS part, countIf(${IS_OF_STREAM}) > 0 AS hasRows, countIf(${IS_WAITING}) = 0 AS isLoaded
FROM inbox WHERE batch = '' GROUP BY part ORDER BY max(_block_number)`,
      ),
    )
  ).rows
