/** The stream: rows of the inbox that belong to no batch, loaded in the order of their blocks. */
import type { Connection } from '../../clickhouse/connection.js'
import { isClickHouseError } from '../../clickhouse/errors.js'
import { join, sql, statement, string, uint64, type Sql } from '../../clickhouse/sql.js'
import type { BlockRange } from './load-source.js'
import { readNextNumber } from './load-log.js'

const STREAM = sql`'inbox'`

/** A block is numbered as it becomes visible, so what comes later has a higher number. */
const BLOCKS = sql`SELECT _part AS part, _block_number AS block, row FROM inbox WHERE batch = ''`

/** The last block that is loaded; 0 before the first. */
async function readCursor(writer: Connection): Promise<number> {
  const { rows } = await writer.query<{ block: number }>(
    statement(sql`SELECT argMax(block, load) AS block FROM inbox_cursor WHERE stream = ${STREAM}`),
  )
  return rows[0]?.block ?? 0
}

/** How many rows of the stream wait to be loaded. */
export async function countWaitingRows(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ waiting: number }>(
    statement(sql`
WITH (SELECT argMax(block, load) FROM inbox_cursor WHERE stream = ${STREAM}) AS cursor
SELECT count() AS waiting FROM inbox WHERE batch = '' AND row = 0 AND _block_number > cursor`),
  )
  return rows[0]?.waiting ?? 0
}

/**
 * The blocks to load next: as many as have `most` rows together, at least one; undefined where none
 * waits. The caller holds the lease of the loader, and no load is unfinished.
 */
export async function findNextRange(
  writer: Connection,
  most: number,
): Promise<BlockRange | undefined> {
  const after = await readCursor(writer)
  const { rows } = await writer.query<{ upTo: number }>(
    statement(sql`
SELECT max(block) AS upTo
FROM (
  SELECT block, sum(lines) OVER (ORDER BY block) - lines AS before
  FROM (SELECT block, count() AS lines FROM (${BLOCKS}) WHERE row = 0 AND block > ${uint64(after)} GROUP BY block)
)
WHERE before < ${uint64(most)}`),
  )
  const upTo = rows[0]?.upTo ?? 0
  return upTo === 0 ? undefined : { after, upTo }
}

/** Writes down that the stream is loaded up to a block. May be repeated. */
export const moveCursor = (writer: Connection, block: number, load: number): Promise<void> =>
  writer.execute(
    statement(
      sql`INSERT INTO inbox_cursor (stream, block, load) SELECT ${STREAM}, ${uint64(block)}, ${uint64(load)}`,
    ),
    { insert_deduplication_token: `load-${load}-cursor` },
  )

/**
 * Takes away the parts of the stream that are loaded. Numbers of blocks go on from the highest that is there
 * when the server starts, so a blank line takes the next one before the last loaded block goes.
 */
export async function dropLoadedParts(writer: Connection): Promise<void> {
  const cursor = await readCursor(writer)
  const parts = await listParts(writer)
  const loaded = parts.filter(({ last }) => last <= cursor)
  if (loaded.length === 0) return
  if (loaded.length === parts.length) await putBlank(writer)
  const drops = join(loaded.map(({ part }) => dropPart(part)))
  try {
    await writer.execute(statement(sql`ALTER TABLE inbox ${drops}`))
  } catch (error) {
    // Parts are merged at any time; the rows are in another then.
    if (!isClickHouseError(error, 'NO_SUCH_DATA_PART')) throw error
    await dropLoadedParts(writer)
  }
}

/**
 * Puts the cursor right if the inbox was emptied by somebody else: its blocks may be counted from 1 again.
 * The caller holds the lease of the loader, and no load is unfinished.
 */
export async function repairCursor(writer: Connection): Promise<void> {
  const cursor = await readCursor(writer)
  const isAhead = async (): Promise<boolean> =>
    (await listParts(writer)).some(({ last }) => last > cursor)
  if (cursor === 0 || (await isAhead())) return
  await putBlank(writer)
  if (!(await isAhead())) await moveCursor(writer, 0, await readNextNumber(writer))
}

/** Rows of the stream have no number in a source; the blank line has one, and so nobody waits for it. */
const putBlank = (writer: Connection): Promise<void> =>
  writer.execute(statement(sql`INSERT INTO inbox (row, line) SELECT 1, ''`))

const dropPart = (part: string): Sql => sql`DROP PART ${string(part)}`

interface Part {
  readonly part: string
  /** Its highest block. */
  readonly last: number
}

const listParts = async (writer: Connection): Promise<readonly Part[]> =>
  (
    await writer.query<Part>(
      statement(sql`SELECT part, max(block) AS last FROM (${BLOCKS}) GROUP BY part`),
    )
  ).rows
