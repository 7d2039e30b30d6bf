/** Names and selects the rows that one load takes from the inbox: a batch, or a range of blocks of the stream. */
import { sql, string, uint64, type Sql } from '../../clickhouse/sql.js'

/** A range of blocks of the stream, by their numbers. */
export interface BlockRange {
  /** The last block before the range. */
  readonly after: number
  /** The last block of the range. */
  readonly upTo: number
}

/** The prefix of the batch names of all ranges. */
export const RANGE_PREFIX = 'stream-'
const RANGE_NAME = new RegExp(String.raw`^${RANGE_PREFIX}(\d+)-(\d+)$`)

/** Returns the batch name of a range. */
export const nameRange = ({ after, upTo }: BlockRange): string => `${RANGE_PREFIX}${after}-${upTo}`

/** Parses the batch name of a range; returns undefined for any other batch. */
export function parseRange(batch: string): BlockRange | undefined {
  const [, after, upTo] = RANGE_NAME.exec(batch) ?? []
  return upTo === undefined ? undefined : { after: Number(after), upTo: Number(upTo) }
}

/** Builds the FROM clause, with its conditions, that selects the rows of a batch, without blank lines. */
export function buildFromClause(batch: string): Sql {
  const range = parseRange(batch)
  return range === undefined
    ? sql`FROM inbox WHERE batch = ${string(batch)}`
    : sql`FROM inbox WHERE batch = '' AND line != '' AND _block_number > ${uint64(range.after)} AND _block_number <= ${uint64(range.upTo)}`
}
