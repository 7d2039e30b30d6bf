/** Chooses which rows of the stream the next load takes. */
import type { Connection } from '../../clickhouse/connection.js'
import { join, sql, statement, uint64, type Sql } from '../../clickhouse/sql.js'
import { findAbandonedLoads, type AbandonedLoad } from './load-log.js'
import { findStart, POSITION } from '../inbox/position.js'
import {
  areEmpty,
  isOfStream,
  isWithin,
  joinStretches,
  nameStretches,
  passStretches,
  type LoadSource,
  type Stretches,
} from './load-source.js'
import { IS_WAITING, WITH_LOADED } from './stream.js'

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

/** The most stretches that a load takes: statements have them as parameters. */
const MAX_STRETCHES = uint64(1_000)

/** The rows of the stream that are loaded next. */
interface NextRows extends LoadSource {
  /** The sum of the lengths of their lines. */
  readonly bytes: number
  /** The most rows that it could have; fewer than usual after a load of these rows was abandoned. */
  readonly maxRows: number
}

interface ChooseOptions {
  readonly limits?: LoadLimits
  /** The number of the last block to take rows from; all by default. */
  readonly upTo?: number
}

/**
 * Finds the rows to load next, at least one and at most `limits`; undefined when no row waits. The caller holds the loader
 * lease, and no load is unfinished.
 *
 * While the rows of an abandoned load wait, loads are as small as that load demands. Each load that finishes since lets the
 * next one grow by the factor by which failures shrink it: the cause was not in its rows, and a backlog of a crash is soon
 * loaded.
 */
export async function findNextRows(
  writer: Connection,
  { limits = MAX_LOAD, upTo }: ChooseOptions = {},
): Promise<NextRows | undefined> {
  const abandoned = (await findAbandonedLoads(writer)).filter(isOfStream)
  const waiting = abandoned.length === 0 ? [] : await findWaiting(writer, abandoned)
  const rows = Math.min(
    limits.rows,
    ...waiting.map(({ nextRows, finishedSince }) => nextRows * SHRINK_FACTOR ** finishedSince),
  )
  const chosen = await chooseBlocks(writer, { ...limits, rows }, upTo)
  if (chosen === undefined) return undefined
  const { starts, ends, bytes } = chosen
  return { batch: nameStretches(chosen), starts, ends, bytes, maxRows: rows }
}

/** Rows of the stream, and the sum of the lengths of their lines. */
interface Chosen extends Stretches {
  readonly bytes: number
}

/** Returns the loads that still have waiting rows. */
async function findWaiting(
  writer: Connection,
  loads: readonly AbandonedLoad[],
): Promise<readonly AbandonedLoad[]> {
  const isOfOne = (load: AbandonedLoad): Sql =>
    sql`countIf(${isWithin(sql`position`, passStretches(load))}) > 0`
  const { rows } = await writer.query<{ waits: readonly number[] }>(
    statement(sql`
${WITH_LOADED}
SELECT [${join(loads.map(isOfOne))}] AS waits
FROM (SELECT min(${POSITION}) AS position FROM inbox WHERE ${IS_WAITING} GROUP BY _block_number)`),
  )
  return loads.filter((_, i) => rows[0]?.waits[i] === 1)
}

const FROM_FIRST = sql`ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW`

/** Selects stretches as texts. */
const selectStretches = (pairs: Sql): Sql => {
  const { starts, ends } = joinStretches(pairs)
  const select = (array: Sql): Sql =>
    sql`arrayMap(position -> toString(position), arraySlice(${array}, 1, ${MAX_STRETCHES}))`
  return sql`${select(starts)} AS starts, ${select(ends)} AS ends`
}

/** Chooses the next blocks. They are taken whole while they fit; a block that does not fit alone is cut. */
async function chooseBlocks(
  writer: Connection,
  limits: LoadLimits,
  upTo: number | undefined,
): Promise<Chosen | undefined> {
  const isAsked = upTo === undefined ? sql`` : sql`AND _block_number <= ${uint64(upTo)}`
  const fits = sql`lines <= ${uint64(limits.rows)} AND size <= ${uint64(limits.bytes)}`
  const { rows } = await writer.query<Chosen & { firstBlock: number; isWhole: boolean }>(
    statement(sql`
${WITH_LOADED}
SELECT
  ${selectStretches(sql`groupArray((start, ${findStart(sql`block + 1`)}))`)},
  min(block) AS firstBlock, max(size) AS bytes, countIf(${fits}) > 0 AS isWhole
FROM (
  SELECT
    block, start, sum(block_lines) OVER so_far AS lines, sum(block_size) OVER so_far AS size, row_number() OVER so_far AS place
  FROM (
    SELECT _block_number AS block, min(${POSITION}) AS start, count() AS block_lines, sum(bytes) AS block_size
    FROM inbox WHERE ${IS_WAITING} ${isAsked} GROUP BY block
  )
  WINDOW so_far AS (ORDER BY block ${FROM_FIRST})
)
WHERE place = 1 OR (${fits})`),
  )
  const [chosen] = rows
  if (chosen === undefined || areEmpty(chosen)) return undefined
  return chosen.isWhole ? chosen : cutBlock(writer, chosen.firstBlock, limits)
}

/** Finds how many waiting rows of a block fit into one load; at least one. */
async function cutBlock(
  writer: Connection,
  block: number,
  limits: LoadLimits,
): Promise<Chosen | undefined> {
  const { rows } = await writer.query<Chosen>(
    statement(sql`
${WITH_LOADED}, lines = 1 OR (lines <= ${uint64(limits.rows)} AND size <= ${uint64(limits.bytes)}) AS fits
SELECT
  ${selectStretches(sql`[(min(position), if(min(fits), ${findStart(sql`${uint64(block)} + 1`)}, maxIf(position, fits) + 1))]`)},
  maxIf(size, fits) AS bytes
FROM (
  SELECT position, row_number() OVER so_far AS lines, sum(bytes) OVER so_far AS size
  FROM (SELECT ${POSITION} AS position, bytes FROM inbox WHERE ${IS_WAITING} AND _block_number = ${uint64(block)})
  WINDOW so_far AS (ORDER BY position ${FROM_FIRST})
)
HAVING count() > 0`),
  )
  return rows[0]
}
