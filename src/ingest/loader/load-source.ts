/** Names and selects the rows that one load takes from the inbox: a batch, or a range of the stream. */
import { sql, string, uint64, type Sql } from '../../clickhouse/sql.js'

/** A place in the stream: behind all rows of a block and of the blocks before it, and behind some rows of the next. */
export interface Position {
  /** The number of the block. */
  readonly block: number
  /** How many rows of block `block + 1` lie before the position; 0 at the end of a block. */
  readonly rows: number
}

/** The rows of the stream between two positions. */
interface StreamRange {
  readonly after: Position
  readonly upTo: Position
}

const RANGE_NAME = /^stream-(\d+)(?:\.(\d+))?-(\d+)(?:\.(\d+))?$/

/** The start of the batch names of all ranges. */
export const RANGE_PREFIX = 'stream-'

/** Returns the batch name of a range. */
export const nameRange = ({ after, upTo }: StreamRange): string =>
  `${RANGE_PREFIX}${namePosition(after)}-${namePosition(upTo)}`

const namePosition = ({ block, rows }: Position): string =>
  rows === 0 ? `${block}` : `${block}.${rows}`

/** Parses the batch name of a range; returns undefined for any other batch. */
export function parseRange(batch: string): StreamRange | undefined {
  const match = RANGE_NAME.exec(batch)
  if (match === null) return undefined
  const [, afterBlock, afterRows = 0, block, rows = 0] = match
  return {
    after: { block: Number(afterBlock), rows: Number(afterRows) },
    upTo: { block: Number(block), rows: Number(rows) },
  }
}

/** Returns whether a position comes before another. */
export const isBefore = (one: Position, other: Position): boolean =>
  one.block === other.block ? one.rows < other.rows : one.block < other.block

/** Builds the FROM clause, with its conditions, that selects the rows of a batch, without blank lines. */
export function buildFromClause(batch: string): Sql {
  const range = parseRange(batch)
  return range === undefined
    ? sql`FROM inbox WHERE batch = ${string(batch)}`
    : sql`FROM inbox WHERE batch = '' AND line != '' AND ${isAfter(range.after)} AND ${isUpTo(range.upTo)}`
}

/** Whether a row of the stream comes after a position. */
export const isAfter = ({ block, rows }: Position): Sql =>
  rows === 0
    ? sql`_block_number > ${uint64(block)}`
    : sql`_block_number > ${uint64(block)} AND (_block_number > ${uint64(block + 1)} OR _block_offset >= ${uint64(rows)})`

const isUpTo = ({ block, rows }: Position): Sql =>
  rows === 0
    ? sql`_block_number <= ${uint64(block)}`
    : sql`(_block_number <= ${uint64(block)} OR _block_number = ${uint64(block + 1)} AND _block_offset < ${uint64(rows)})`

/** Returns the name under which the rejected rows of a batch are stored; those of the stream have one in common. */
export const nameRejections = (batch: string): string =>
  parseRange(batch) === undefined ? batch : ''
