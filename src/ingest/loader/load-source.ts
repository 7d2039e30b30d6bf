/** Names what one load takes from the inbox: the rows of a batch, or a run of blocks of the stream. */
import { sql, string, uint64, type Sql } from '../../clickhouse/sql.js'

/** Blocks of the stream, by their numbers. */
export interface BlockRange {
  /** The last block before. */
  readonly after: number
  /** The last block of the range. */
  readonly upTo: number
}

const STREAM = /^stream-(\d+)-(\d+)$/

/** The name of the batch that a range of the stream is. */
export const nameRange = ({ after, upTo }: BlockRange): string => `stream-${after}-${upTo}`

/** The range that a batch is; undefined for rows that came as one batch. */
export function parseRange(batch: string): BlockRange | undefined {
  const [, after, upTo] = STREAM.exec(batch) ?? []
  return upTo === undefined ? undefined : { after: Number(after), upTo: Number(upTo) }
}

/** Where the rows of a batch are, from the word FROM on. Blank lines are no rows. */
export function buildFromClause(batch: string): Sql {
  const range = parseRange(batch)
  return range === undefined
    ? sql`FROM inbox WHERE batch = ${string(batch)}`
    : sql`FROM inbox WHERE batch = '' AND line != '' AND _block_number > ${uint64(range.after)} AND _block_number <= ${uint64(range.upTo)}`
}
