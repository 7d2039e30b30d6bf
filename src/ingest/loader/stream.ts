/**
 * The stream: the rows of the inbox that belong to no batch. The table `inbox_cursor` has the stretches of it that are loaded
 * and still in the inbox; all other rows wait.
 */
import type { Connection } from '../../clickhouse/connection.js'
import { getClickHouseReason, isClickHouseError, isDiskFull } from '../../clickhouse/errors.js'
import { join, sql, statement, string, uint64 } from '../../clickhouse/sql.js'
import { findStart, POSITION } from '../inbox/position.js'
import {
  isWithin,
  joinStretches,
  NO_STRETCHES,
  passStretches,
  type StretchArrays,
  type Stretches,
} from './load-source.js'
import { readNextNumber } from './load-log.js'

const STREAM = sql`'inbox'`

/** Reads what is loaded, for statements that use LOADED or IS_WAITING: they begin with it. */
export const WITH_LOADED = sql`WITH (SELECT argMax((starts, ends), load) FROM inbox_cursor) AS loaded`
const LOADED: StretchArrays = { starts: sql`loaded.1`, ends: sql`loaded.2` }

/** Whether a row of the inbox is one of the stream, and not the blank line of `insertBlankLine`. */
const IS_OF_STREAM = sql`batch = '' AND (row = 0 OR bytes > 0)`

/** Whether a row of the inbox is one of the stream that waits to be loaded; see WITH_LOADED. */
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

/** The account for queries may read the numbers of blocks only, so a block counts as a whole, even if only some of its rows are loaded. */
const LAST_OF_BLOCK = sql`(${findStart(sql`_block_number`)} + 4294967295)`

/** Counts the rows of the stream that wait to be loaded. An idle service sends no statement more often, so it has to be cheap. */
export async function countWaitingRows(connection: Connection): Promise<WaitingRows> {
  const { rows } = await connection.query<{ rows: number; oldestAt: number; now: number }>(
    statement(sql`
${WITH_LOADED}
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
 * Records that a load has loaded its stretches, which all become loaded at once. Earlier blocks are forgotten once they, and all
 * blocks with lower numbers, have left the inbox. Does nothing if it is recorded already.
 */
export async function recordStretches(
  writer: Connection,
  load: number,
  stretches: Stretches,
): Promise<void> {
  const own = passStretches(stretches)
  const { starts, ends } = joinStretches(
    sql`arrayConcat(earlier, arrayZip(${own.starts}, ${own.ends}))`,
  )
  await writer.execute(
    statement(sql`
INSERT INTO inbox_cursor (stream, load, starts, ends)
SELECT ${STREAM}, ${uint64(load)}, ${starts}, ${ends}
FROM (
  SELECT
    arrayFilter(
      stretch -> stretch.1 < stretch.2,
      arrayMap((start, end) -> (greatest(start, first), end), loaded.1, loaded.2)) AS earlier
  FROM (SELECT argMax((starts, ends), load) AS loaded FROM inbox_cursor HAVING max(load) < ${uint64(load)}) AS newest
  CROSS JOIN (SELECT min(${POSITION}) AS first FROM inbox WHERE batch = '') AS oldest
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
    const count = await dropParts(writer, dropped)
    return count > 0 && dropped.length < loaded.length
  } catch (error) {
    // ClickHouse has merged the part in the meantime: its rows are in another part.
    if (!isClickHouseError(error, 'NO_SUCH_DATA_PART')) throw error
    return true
  }
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
${WITH_LOADED}
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
      sql`${WITH_LOADED} SELECT 1 FROM inbox WHERE ${IS_OF_STREAM} AND ${isWithin(POSITION, LOADED)} LIMIT 1`,
    ),
  )
  return rows.length > 0
}

/** Inserts a blank line. Its row number is 1, and rows of the stream have 0, so it never counts as waiting. */
const insertBlankLine = (writer: Connection): Promise<void> =>
  writer.execute(statement(sql`INSERT INTO inbox (row, line) SELECT 1, ''`))

/** Drops parts, except those that cannot be dropped yet: a later load does it. @returns how many were dropped */
async function dropParts(writer: Connection, parts: readonly Part[]): Promise<number> {
  const drops = parts.map(({ part }) => sql`DROP PART ${string(part)}`)
  try {
    await writer.execute(statement(sql`ALTER TABLE inbox ${join(drops)}`))
    return parts.length
  } catch (error) {
    if (!isInUse(error)) throw error
    if (parts.length === 1) return 0
    let dropped = 0
    for (const part of parts) dropped += await dropParts(writer, [part])
    return dropped
  }
}

/**
 * Whether a part of a replicated table cannot be dropped yet: it is about to be merged, or its insert waits for another replica, which may
 * be away for long.
 */
const isInUse = (error: unknown): boolean =>
  isClickHouseError(error, 'PART_IS_TEMPORARILY_LOCKED') ||
  getClickHouseReason(error)?.includes('is inserting with parallel quorum') === true

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
${WITH_LOADED}
SELECT
  _part AS part, countIf(${IS_OF_STREAM}) > 0 AS hasRows, countIf(${IS_WAITING}) = 0 AS isLoaded
FROM inbox WHERE batch = '' GROUP BY part ORDER BY max(_block_number)`,
      ),
    )
  ).rows
